import type { ReactNode } from "react";
import styles from "./settings.module.css";

interface Props {
  readonly title: string;
  /** Shown at the end of the title's line. */
  readonly aside?: ReactNode;
  readonly children: ReactNode;
}

export const Section = ({ title, aside, children }: Props) => (
  <section className={styles.section} aria-label={title}>
    <header>
      <h3>{title}</h3>
      {aside}
    </header>
    {children}
  </section>
);
