import styles from "./icons.module.css";

/** The mark of Rainy Brain: a cloud with rain. */
export const Mark = () => (
  <svg className={styles.mark} viewBox="0 0 32 32" aria-hidden="true" focusable="false">
    <rect width="32" height="32" rx="9" />
    <path d="M9.500 17.500a4.600 4.600 0 0 1 .8-9 6 6 0 0 1 11.500 1.700 4 4 0 0 1 1.200 7.300M11.500 19l-1.200 4M16.500 18l-1.800 6.500M21 19l-1.200 4" />
  </svg>
);
