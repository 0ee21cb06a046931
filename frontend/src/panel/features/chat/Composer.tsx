import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { flushSync } from "react-dom";
import type { Attachment, Options } from "../../../wire/types.ts";
import { useBrain } from "../../shared/brain.tsx";
import { Icon } from "../../shared/icons.tsx";
import ui from "../../shared/ui.module.css";
import { attachToComposer, currentDraft, discardDraft, useComposer, writeComposer } from "../../stores/composer.ts";
import { dataUrl, isPicture } from "../../stores/pictures.ts";
import { showError, showToast } from "../../stores/toasts.ts";
import { AttachedFiles } from "./AttachedFiles.tsx";
import { readAttachments } from "./attachments.ts";
import styles from "./Composer.module.css";
import { mentioned, useMentions } from "./mentions.ts";
import { Pickers } from "./Pickers.tsx";
import { promptHistory, rememberPrompt } from "./prompt-history.ts";
import { useReferences } from "./references.ts";
import { SUGGESTIONS_ID, Suggestions } from "./Suggestions.tsx";
import { parseInput, type Suggestion, slashSuggestions } from "./slash.ts";

export interface Submission {
  readonly text: string;
  /** With the slash command, if there was one. */
  readonly typed: string;
  readonly intent: Options["intent"] | undefined;
  readonly agent: Options["agentType"] | undefined;
  readonly attachments: readonly Attachment[];
  readonly mentioned: readonly string[];
}

interface Props {
  readonly placeholder: string;
  /** Sends to a task that exists, which keeps its mode and model. */
  readonly continues: boolean;
  /** The workspace of the task that is shown; undefined for the sidecar's own. */
  readonly workspace: string | undefined;
  /** Resolves to true if it was sent; otherwise the text stays. */
  readonly onSend: (submission: Submission) => Promise<boolean>;
}

export function Composer({ placeholder, continues, workspace, onSend }: Props) {
  const service = useBrain();
  const box = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const { text, attachments, focusRequests } = useComposer();
  const [cursor, setCursor] = useState(0);
  const [chosen, setChosen] = useState(0);
  const [closed, setClosed] = useState("");
  const [back, setBack] = useState(0);
  const [sending, setSending] = useState(false);
  // A mistyped command that was pointed out; sending it again sends it as a task.
  const pointedOut = useRef("");

  const mentions = useMentions({ service, workspace }, text, cursor);
  const references = useReferences({ service, workspace }, text, cursor);
  const offered = closed === text ? [] : [...slashSuggestions(text), ...mentions, ...references];
  const place = Math.min(chosen, offered.length - 1);

  const write = (next: string) => {
    writeComposer(next);
    setChosen(0);
    setBack(0);
  };
  useEffect(() => {
    if (focusRequests === 0) return;
    setChosen(0);
    setBack(0);
    box.current?.focus();
  }, [focusRequests]);

  const send = async () => {
    const trimmed = text.trim();
    if (trimmed === "" || sending) return;
    const parsed = parseInput(trimmed);
    if (parsed.kind === "unavailable") return showToast(parsed.reason);
    if (parsed.kind === "mistyped" && pointedOut.current !== trimmed) {
      pointedOut.current = trimmed;
      return showToast(
        `There is no command /${parsed.word}. Did you mean /${parsed.suggestion}? Nothing was sent. Press Enter again to send it as it is.`,
      );
    }
    const input = parsed.kind === "mistyped" ? parsed.asTask : parsed;
    if (input.kind === "command") {
      rememberPrompt(trimmed);
      write("");
      input.command.run(input.argument);
      return;
    }
    setSending(true);
    const { intent, agent } = input;
    // A new task gets selected, so that the draft is no longer the current one.
    const draft = currentDraft();
    const written = { text: input.text, typed: trimmed, intent, agent, attachments, mentioned: mentioned(input.text) };
    const sent = await onSend(written);
    setSending(false);
    if (!sent) return;
    rememberPrompt(trimmed);
    discardDraft(draft);
    setChosen(0);
    setBack(0);
  };
  const pick = (suggestion: Suggestion) => {
    const { caret } = suggestion;
    // Rendered synchronously, so that the cursor can move into the new text.
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
      const more = await readAttachments(files);
      attachToComposer([...attachments, ...more].slice(0, 32));
    } catch (error) {
      showError(error);
    }
  };
  /** Walks through earlier prompts with the arrow keys. */
  const recall = (step: number): boolean => {
    const past = promptHistory();
    const next = back + step;
    if (next < 0 || next > past.length) return false;
    const recalled = next === 0 ? "" : past[past.length - next]!;
    write(recalled);
    setBack(next);
    return true;
  };
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
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
      className={styles.composer}
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
      <AttachedFiles
        files={attachments.map((one) => ({ name: one.name, picture: isPicture(one) ? dataUrl(one) : undefined }))}
        onRemove={(place) => attachToComposer(attachments.toSpliced(place, 1))}
      />
      <textarea
        ref={box}
        data-composer=""
        aria-label="Task"
        dir="auto"
        aria-controls={offered.length > 0 ? SUGGESTIONS_ID : undefined}
        aria-activedescendant={offered.length > 0 ? `${SUGGESTIONS_ID}-${place}` : undefined}
        rows={Math.min(10, text.split("\n").length)}
        placeholder={placeholder}
        value={text}
        // biome-ignore lint/a11y/noAutofocus: you open the panel to type into the composer
        autoFocus
        spellCheck
        onChange={(event) => {
          write(event.target.value);
          setCursor(event.target.selectionStart);
        }}
        onSelect={(event) => setCursor(event.currentTarget.selectionStart)}
        onKeyDown={onKeyDown}
        onPaste={(event) => {
          if (event.clipboardData.files.length === 0) return;
          event.preventDefault();
          void attach(event.clipboardData.files);
        }}
      />
      <div className={styles.row}>
        <button
          type="button"
          className={ui.iconButton}
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
        {continues ? <span className={styles.keeps}>Keeps the task's mode and model</span> : <Pickers />}
        <button
          type="submit"
          className={`${ui.primary} ${styles.send}`}
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
