import styles from "./icons.module.css";

/** On a 16 × 16 grid with one stroke width, to match 13 px text. */
const PATHS = {
  add: "M8 3v10M3 8h10",
  alert: "M8 2.5 14.2 13H1.8ZM8 6.5v3M8 11.2v.1",
  arrow: "M3 8h10M9 4l4 4-4 4",
  check: "m3 8.5 3.2 3.2L13 5",
  chevron: "m6 4 4 4-4 4",
  close: "m4 4 8 8M12 4l-8 8",
  copy: "M5.5 5.5h7v7h-7zM3.5 10.5v-7h7",
  dot: "M8 7.2a.8.8 0 1 0 0 1.6.8.8 0 0 0 0-1.6",
  down: "M8 3v10M4 9l4 4 4-4",
  edit: "M3 13h2.5L13 5.500 10.5 3 3 10.500Z",
  file: "M4 2.500h5l3 3v8H4zM9 2.500v3h3",
  history: "M3 8a5 5 0 1 0 1.600-3.700M3 2.500v2.300h2.300M8 5v3.200l2 1.300",
  menu: "M2.500 4.500h11M2.500 8h11M2.500 11.500h11",
  more: "M3.500 8h.1M8 8h.1M12.500 8h.1",
  open: "M9 3h4v4M13 3 8 8M11 9.500V13H3V5h3.500",
  question: "M6 6a2 2 0 1 1 2.700 1.900c-.5.200-.7.600-.7 1.100v.5M8 11.700v.1",
  resume: "M5 3.500v9l7-4.500Z",
  retry: "M13 8a5 5 0 1 1-1.600-3.700M13 2.500v2.300h-2.300",
  rewind: "M5.500 5 2.500 8l3 3M3 8h6.500a3.500 3.500 0 0 1 0 7",
  search: "M7 2.500a4.500 4.500 0 1 0 0 9 4.500 4.500 0 0 0 0-9M10.300 10.300l3.200 3.200",
  send: "M8 13V3.500M4 7.200l4-4 4 4",
  settings:
    "M8 5.800a2.200 2.200 0 1 0 0 4.400 2.200 2.200 0 0 0 0-4.400M8 2v1.600M8 12.400V14M2 8h1.600M12.400 8H14M3.800 3.800l1.100 1.100M11.100 11.100l1.100 1.100M3.800 12.200l1.100-1.100M11.100 4.900l1.100-1.100",
  shield: "M8 2.200 13 4v4c0 3-2.200 5-5 6-2.800-1-5-3-5-6V4Z",
  chart: "M3 13V8M8 13V3M13 13V6",
  stop: "M4.500 4.500h7v7h-7z",
  terminal: "m3 5 3 3-3 3M8 11.500h5",
} as const;

export type IconName = keyof typeof PATHS;

export const Icon = ({ name }: { name: IconName }) => (
  <svg className={styles.icon} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
    <path d={PATHS[name]} />
  </svg>
);

export const Spinner = () => <span className={styles.spinner} aria-hidden="true" />;
