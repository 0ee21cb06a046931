import { type KeyboardEvent, useRef, useState } from "react";
import { Dialog } from "../../shared/dialog.tsx";
import { AboutPage } from "./AboutPage.tsx";
import { ApprovalsPage } from "./ApprovalsPage.tsx";
import { GeneralPage } from "./GeneralPage.tsx";
import { HealthPage } from "./HealthPage.tsx";
import { ModelsPage } from "./models/ModelsPage.tsx";
import { PAGES, type Page } from "./pages.ts";
import { ServersPage } from "./ServersPage.tsx";
import styles from "./settings.module.css";

interface Props {
  readonly first: Page;
  readonly onClose: () => void;
}

export default function Settings({ first, onClose }: Props) {
  const [page, setPage] = useState(first);
  const tabs = useRef<HTMLDivElement>(null);
  const names = Object.keys(PAGES) as Page[];
  const onKeyDown = (event: KeyboardEvent) => {
    const place = names.indexOf(page);
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    const next =
      step === undefined ? { Home: 0, End: names.length - 1 }[event.key] : (place + step + names.length) % names.length;
    if (next === undefined) return;
    event.preventDefault();
    setPage(names[next]!);
    tabs.current?.querySelectorAll<HTMLElement>("[role=tab]")[next]?.focus();
  };
  return (
    <Dialog label="Settings" className={styles.settings} onClose={onClose} titled>
      <div className={styles.frame}>
        <div ref={tabs} className={styles.tabs} role="tablist" aria-label="Settings" onKeyDown={onKeyDown}>
          {names.map((name) => (
            <button
              key={name}
              id={`settings-tab-${name}`}
              type="button"
              role="tab"
              aria-selected={name === page}
              aria-controls="settings-page"
              tabIndex={name === page ? 0 : -1}
              data-first={name === first ? "" : undefined}
              onClick={() => setPage(name)}
            >
              {PAGES[name]}
            </button>
          ))}
        </div>
        <div id="settings-page" className={styles.page} role="tabpanel" aria-labelledby={`settings-tab-${page}`}>
          {page === "general" && <GeneralPage />}
          {page === "models" && <ModelsPage />}
          {page === "approvals" && <ApprovalsPage />}
          {page === "servers" && <ServersPage />}
          {page === "health" && <HealthPage onPage={setPage} />}
          {page === "about" && <AboutPage />}
        </div>
      </div>
    </Dialog>
  );
}
