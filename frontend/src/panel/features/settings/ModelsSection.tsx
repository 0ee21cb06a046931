import type { ModelList } from "../../../wire/types.ts";
import { CopyButton } from "../../shared/copy-button.tsx";
import { Section } from "./Section.tsx";

const KEYS: readonly (readonly [string, string])[] = [
  ["Anthropic", "ANTHROPIC_API_KEY=…"],
  ["Gemini", "GEMINI_API_KEY=…"],
  ["Groq", "GROQ_API_KEY=…"],
  ["OpenAI, Ollama, LM Studio, llama.cpp, vLLM", "OPENAI_BASE_URL=http://127.0.0.1:11434/v1"],
];

/** Who plays which role, what there is, and how to add one. Keys are never typed into a page. */
export function ModelsSection({ models }: { models: ModelList | undefined }) {
  return (
    <Section title="Models">
      <dl className="values">
        {models?.roles.map((role) => (
          <div key={role.role}>
            <dt>{role.role}</dt>
            <dd>{role.chain.join(", then ")}</dd>
          </div>
        ))}
      </dl>
      <ul className="models">
        {models?.models.map((model) => (
          <li key={model.name}>
            <span className={`dot dot-${model.available ? "completed" : "failed"}`} />
            <code>{model.name}</code>
            <small>{model.why}</small>
          </li>
        ))}
      </ul>
      <details>
        <summary>Add a language model</summary>
        <p>Keys stay in the environment of the sidecar; set one there, name the model, and start the sidecar again.</p>
        <ul className="models">
          {[...KEYS, ["Who writes the code", "BRAIN_MODEL_SMART=provider/name"] as const].map(([name, setting]) => (
            <li key={name}>
              <small>{name}</small>
              <code>{setting}</code>
              <CopyButton text={setting} />
            </li>
          ))}
        </ul>
      </details>
    </Section>
  );
}
