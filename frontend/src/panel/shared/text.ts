// Control, bidirectional and zero-width characters can disguise a command.
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern is about them
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** Writes out invisible characters as escapes. */
export const revealHidden = (text: string): string =>
  text.replace(HIDDEN, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`);

/** Quotes an argument for a shell. */
export const quote = (argument: string): string =>
  /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${revealHidden(argument).replaceAll("'", `'\\''`)}'`;

export const commandLine = (argv: readonly string[]): string => argv.map(quote).join(" ");

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences start with one
const COLOURS = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-_])/g;

/** A command's output as a terminal shows it: no colour codes, and only the last state of a progress line. */
export const stripAnsi = (output: string): string =>
  revealHidden(
    output
      .replace(COLOURS, "")
      .replaceAll("\r\n", "\n")
      .replace(/[^\n]*\r(?=[^\n])/g, "")
      .replaceAll("\r", ""),
  );
