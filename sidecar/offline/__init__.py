"""The model that is always there: no language model, no key, no network; it plans what needs none."""
