import type { ReactNode } from "react";

interface Props {
  readonly title: string;
  /** What stands beside the title, at its end. */
  readonly aside?: ReactNode;
  readonly children: ReactNode;
}

export const Section = ({ title, aside, children }: Props) => (
  <section className="settings-section" aria-label={title}>
    <header>
      <h3>{title}</h3>
      {aside}
    </header>
    {children}
  </section>
);
