import type { ReactNode } from "react";

export const Section = ({ title, children }: { title: string; children: ReactNode }) => (
  <section className="settings-section">
    <h3>{title}</h3>
    {children}
  </section>
);
