import styles from "./offline-notice.module.css";
/** Explains what works without a language model. */
export const OfflineNotice = () => (
  <p className={styles.offline}>
    <strong>No language model is set up.</strong> You can still start a project from a template, explain a project, file
    or symbol, rename a symbol everywhere, search, run commands and tests, review your changes and use git. To write
    code from a description or to chat, add a model.
  </p>
);
