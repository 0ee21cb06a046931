// Control, bidirectional and zero-width characters can make a command look like another one.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** The text with everything that hides itself written out. */
export const visible = (text: string): string =>
  text.replace(HIDDEN, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`);

/** An argument as a shell would have to be given it. */
export const quoted = (argument: string): string =>
  /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${visible(argument).replaceAll("'", `'\\''`)}'`;

export const commandLine = (argv: readonly string[]): string => argv.map(quoted).join(" ");

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
const COLOURS = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-_])/g;

/** What a terminal would show of a command's output: no colours, and of a progress line only its last state. */
export const plain = (output: string): string =>
  visible(
    output
      .replace(COLOURS, "")
      .replaceAll("\r\n", "\n")
      .replace(/[^\n]*\r(?=[^\n])/g, "")
      .replaceAll("\r", ""),
  );
