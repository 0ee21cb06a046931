/** What it means that there is no language model, in words that promise neither too much nor too little. */
export const OfflineWords = () => (
  <p className="offline-words">
    <strong>It runs offline.</strong> Without a language model it can start a project from a template, explain a
    project, a file or a name, rename something everywhere, search, run commands and tests, review what you changed, and
    use git. It cannot write code from a description or talk things over: for that, add a model.
  </p>
);
