import { type KeyboardEvent, useCallback, useEffect, useRef, useState } from "react";
import { flushSync } from "react-dom";
import type { Attachment, Options } from "../../../wire/types.ts";
import { useBrain } from "../../shared/brain.tsx";
import { composerText } from "../../shared/composer-text.ts";
import { Icon } from "../../shared/icons.tsx";
import { complain, say } from "../../shared/toasts.tsx";
import { attachmentsOf } from "./attachments.ts";
import { mentioned, useMentions } from "./mentions.ts";
import { Pickers } from "./Pickers.tsx";
import { asked, remember, saveDraft, savedDraft } from "./past.ts";
import { SUGGESTIONS_ID, Suggestions } from "./Suggestions.tsx";
import { type Suggestion, slashSuggestions, understood } from "./slash.ts";

export interface Sending {
  readonly text: string;
  readonly intent: Options["intent"] | undefined;
  readonly agent: Options["agentType"] | undefined;
  readonly attachments: readonly Attachment[];
  readonly mentioned: readonly string[];
}

interface Props {
  readonly placeholder: string;
  /** Where the task is that is shown; the sidecar's own if there is none. */
  readonly workspace: string | undefined;
  /** Resolves to whether it was taken; if not, the text stays. */
  readonly onSend: (sending: Sending) => Promise<boolean>;
}

export function Composer({ placeholder, workspace, onSend }: Props) {
  const service = useBrain();
  const box = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(savedDraft);
  const [cursor, setCursor] = useState(0);
  const [chosen, setChosen] = useState(0);
  const [closed, setClosed] = useState("");
  const [back, setBack] = useState(0);
  const [attachments, setAttachments] = useState<readonly Attachment[]>([]);
  const [sending, setSending] = useState(false);
  // What looked like a slip, and was said to: sent once more, it is meant as it stands.
  const insisted = useRef("");

  const mentions = useMentions({ service, workspace }, text, cursor);
  const offered = closed === text ? [] : [...slashSuggestions(text), ...mentions];
  const place = Math.min(chosen, offered.length - 1);

  const write = useCallback((next: string) => {
    setText(next);
    saveDraft(next);
    setChosen(0);
    setBack(0);
  }, []);
  useEffect(
    () =>
      composerText.subscribe(() => {
        const wanted = composerText.get();
        if (wanted === undefined) return;
        composerText.set(undefined);
        write(wanted.append ? `${box.current?.value ?? ""}${wanted.text}` : wanted.text);
        box.current?.focus();
      }),
    [write],
  );

  const send = async () => {
    const trimmed = text.trim();
    if (trimmed === "" || sending) return;
    const meant = understood(trimmed);
    if (meant.kind === "away") return say(meant.why);
    if (meant.kind === "misspelled" && insisted.current !== trimmed) {
      insisted.current = trimmed;
      return say(
        `There is no command /${meant.word}. Did you mean /${meant.meant}? Nothing was sent; Enter again sends it as it is.`,
      );
    }
    const said = meant.kind === "misspelled" ? meant.sentence : meant;
    if (said.kind === "command") {
      write("");
      said.command.run(said.argument);
      return;
    }
    setSending(true);
    const { intent, agent } = said;
    const taken = await onSend({ text: said.text, intent, agent, attachments, mentioned: mentioned(said.text) });
    setSending(false);
    if (!taken) return;
    remember(trimmed);
    write("");
    setAttachments([]);
  };
  const pick = (suggestion: Suggestion) => {
    const { caret } = suggestion;
    // Written at once, so that there is something for the cursor to stand in.
    flushSync(() => write(suggestion.text));
    if (caret !== undefined) {
      box.current?.focus();
      box.current?.setSelectionRange(caret, caret);
      setCursor(caret);
    } else if (suggestion.text.endsWith(" ")) box.current?.focus();
    else setClosed(suggestion.text);
  };
  const attach = async (files: Iterable<File>) => {
    try {
      const more = await attachmentsOf(files);
      setAttachments((before) => [...before, ...more].slice(0, 32));
    } catch (error) {
      complain(error);
    }
  };
  /** Through what was asked before, when there is nothing else that the arrows could do. */
  const recall = (step: number): boolean => {
    const past = asked();
    const next = back + step;
    if (next < 0 || next > past.length) return false;
    const recalled = next === 0 ? "" : past[past.length - next]!;
    write(recalled);
    setBack(next);
    return true;
  };
  const pressed = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.nativeEvent.isComposing) return;
    const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
    if (offered.length > 0 && plain) {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step !== undefined) setChosen((place + step + offered.length) % offered.length);
      else if (event.key === "Escape") setClosed(text);
      else if (event.key === "Tab" || (event.key === "Enter" && offered[place]!.text !== text)) pick(offered[place]!);
      else if (event.key === "Enter" && !event.shiftKey) void send();
      else return;
      event.preventDefault();
      return;
    }
    if (event.key === "Enter" && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      void send();
    } else if (event.key === "ArrowUp" && plain && (text === "" || back > 0) && recall(1)) event.preventDefault();
    else if (event.key === "ArrowDown" && plain && back > 0 && recall(-1)) event.preventDefault();
  };

  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        void attach(event.dataTransfer.files);
      }}
    >
      {offered.length > 0 && <Suggestions suggestions={offered} chosen={place} onPick={pick} />}
      {attachments.length > 0 && (
        <ul className="attachments" aria-label="Attachments">
          {attachments.map((one) => (
            <li key={one.name + one.data.length}>
              <Icon name="file" /> {one.name}
              <button
                type="button"
                className="icon-button"
                aria-label={`Remove ${one.name}`}
                onClick={() => setAttachments(attachments.filter((other) => other !== one))}
              >
                <Icon name="close" />
              </button>
            </li>
          ))}
        </ul>
      )}
      <textarea
        ref={box}
        data-composer=""
        aria-label="Task"
        aria-controls={offered.length > 0 ? SUGGESTIONS_ID : undefined}
        aria-activedescendant={offered.length > 0 ? `${SUGGESTIONS_ID}-${place}` : undefined}
        rows={Math.min(10, text.split("\n").length)}
        placeholder={placeholder}
        value={text}
        // biome-ignore lint/a11y/noAutofocus: the composer is what the panel is opened for
        autoFocus
        spellCheck
        onChange={(event) => {
          write(event.target.value);
          setCursor(event.target.selectionStart);
        }}
        onSelect={(event) => setCursor(event.currentTarget.selectionStart)}
        onKeyDown={pressed}
        onPaste={(event) => {
          if (event.clipboardData.files.length === 0) return;
          event.preventDefault();
          void attach(event.clipboardData.files);
        }}
      />
      <div className="composer-row">
        <button
          type="button"
          className="icon-button"
          aria-label="Attach files"
          title="Attach files"
          onClick={() => picker.current?.click()}
        >
          <Icon name="add" />
        </button>
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          onChange={(event) => {
            void attach(event.target.files ?? []);
            event.target.value = "";
          }}
        />
        <Pickers />
        <button
          type="submit"
          className="button button-primary button-send"
          aria-label="Send"
          disabled={text.trim() === "" || sending}
          title="Send (Enter)"
        >
          <Icon name="send" />
        </button>
      </div>
    </form>
  );
}
