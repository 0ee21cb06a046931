import { type FormEvent, useEffect, useState } from "react";
import type { McpServerInfo, McpTest } from "../../../wire/types.ts";
import { useBrain } from "../../shared/brain.tsx";
import { plural } from "../../shared/format.ts";
import { revealHidden } from "../../shared/text.ts";
import ui from "../../shared/ui.module.css";
import { showError, showToast } from "../../stores/toasts.ts";
import { Section } from "./Section.tsx";
import styles from "./settings.module.css";

/** MCP servers: list, test, accept their tools, add and remove. */
export function ServersPage() {
  const service = useBrain();
  const [servers, setServers] = useState<readonly McpServerInfo[]>();
  const [shown, setShown] = useState<McpTest>();
  const [testing, setTesting] = useState("");
  useEffect(() => {
    const stop = new AbortController();
    service.mcpServers(stop.signal).then(
      (answer) => setServers(answer.servers),
      (error: unknown) => stop.signal.aborted || showError(error),
    );
    return () => stop.abort();
  }, [service]);
  const test = async (name: string) => {
    setTesting(name);
    try {
      const found = await service.testMcpServer(name);
      setShown(found);
      setServers((before) => before?.map((one) => (one.name === name ? found.server : one)));
    } catch (error) {
      showError(error);
    }
    setTesting("");
  };
  const accept = async (name: string, digest: string) => {
    try {
      setServers((await service.acceptMcpServer(name, digest)).servers);
      setShown(undefined);
      showToast("Accepted. If the server changes its tools, you are asked again.");
    } catch (error) {
      showError(error);
    }
  };
  const remove = (name: string) =>
    service.removeMcpServer(name).then((answer) => {
      setServers(answer.servers);
      setShown(undefined);
      showToast(`Removed ${name}; its tools are forgotten.`);
    }, showError);
  return (
    <>
      <Section title="MCP servers">
        {servers?.length === 0 && <p className={ui.hint}>None. Agents can use the tools of servers that you add.</p>}
        <ul className={styles.rows} aria-label="MCP servers">
          {servers?.map((server) => (
            <li key={`${server.name} ${server.where}`}>
              <div>
                <code className={styles.command}>{revealHidden(server.name)}</code>
                <small>{describe(server)}</small>
                {server.error !== undefined && <small>{revealHidden(server.error)}</small>}
                <small>
                  <code>{revealHidden(server.where)}</code>
                </small>
              </div>
              <div className={styles.buttons}>
                <button
                  type="button"
                  className={ui.button}
                  aria-label={`Test ${server.name}`}
                  disabled={testing !== ""}
                  onClick={() => void test(server.name)}
                >
                  {testing === server.name ? "Testing…" : "Test"}
                </button>
                {server.own && (
                  <button
                    type="button"
                    className={ui.button}
                    aria-label={`Remove ${server.name}`}
                    onClick={() => void remove(server.name)}
                  >
                    Remove
                  </button>
                )}
              </div>
            </li>
          ))}
        </ul>
      </Section>
      {shown?.digest !== undefined && <Tools shown={shown} onAccept={accept} />}
      <Add
        onAdded={(added, name) => {
          setServers(added);
          void test(name);
        }}
      />
    </>
  );
}

function describe({ state, tools, pinned, own, error }: McpServerInfo): string {
  const known = tools.length > 0 ? `; ${plural(tools.length, "tool")}, ${pinned ? "accepted" : "not accepted"}` : "";
  const untested = known === "" && error === undefined && state === "stopped" ? "; test it to see its tools" : "";
  return `${own ? "" : "from this workspace; "}${state === "stopped" ? "starts when used" : state}${known}${untested}`;
}

interface ToolsProps {
  readonly shown: McpTest;
  readonly onAccept: (name: string, digest: string) => Promise<void>;
}

/** The tools that a test found, and what changed since you accepted them. */
function Tools({ shown: { server, tools, digest }, onAccept }: ToolsProps) {
  return (
    <Section title={`Tools of ${server.name}`}>
      {server.state === "changed" && server.diff !== undefined && (
        <>
          <h4>Changes since you accepted them</h4>
          <pre className={styles.changes}>{revealHidden(server.diff)}</pre>
        </>
      )}
      {digest !== undefined && !server.pinned && (
        <button type="button" className={ui.primary} onClick={() => void onAccept(server.name, digest)}>
          {tools.length === 1 ? "Accept this tool" : `Accept these ${tools.length} tools`}
        </button>
      )}
      <ul className={styles.rows} aria-label={`Tools of ${server.name}`}>
        {tools.map(({ name, description }) => (
          <li key={name}>
            <div>
              <code className={styles.command}>{name}</code>
              <small>{revealHidden(description)}</small>
            </div>
          </li>
        ))}
      </ul>
      {server.leftOut?.map((one) => (
        <p key={one} className={ui.hint}>
          Left out: {revealHidden(one)}
        </p>
      ))}
    </Section>
  );
}

function Add({ onAdded }: { readonly onAdded: (servers: readonly McpServerInfo[], name: string) => void }) {
  const service = useBrain();
  const [name, setName] = useState("");
  const [line, setLine] = useState("");
  const add = async (event: FormEvent) => {
    event.preventDefault();
    try {
      const { servers } = await service.addMcpServer(name.trim(), entryOf(line));
      onAdded(servers, name.trim());
      setName("");
      setLine("");
    } catch (error) {
      showError(error);
    }
  };
  return (
    <Section title="Add a server">
      <form onSubmit={(event) => void add(event)}>
        <label className={styles.field}>
          <span>Name</span>
          <input type="text" value={name} required maxLength={32} onChange={(event) => setName(event.target.value)} />
        </label>
        <label className={styles.field}>
          <span>Command or address</span>
          <input type="text" value={line} required onChange={(event) => setLine(event.target.value)} />
        </label>
        <p className={ui.hint}>
          Its process sees the workspace and no network. For more, give it <code>grants</code> in your mcp.json.
        </p>
        <button type="submit" className={ui.button}>
          Add
        </button>
      </form>
    </Section>
  );
}

/** An address, or a command whose words may be quoted. */
export function entryOf(line: string): { [key: string]: string | string[] } {
  const text = line.trim();
  if (/^https?:\/\/\S+$/.test(text)) return { type: "http", url: text };
  const words = [...text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map((word) => word[1] ?? word[2] ?? word[3]!);
  return { command: words[0] ?? "", args: words.slice(1) };
}
