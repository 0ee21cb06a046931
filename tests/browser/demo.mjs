// A demo task: parallel calls, an edit, a test run and an answer with code.
export const files = {
  "calc.py": "import os\n\n\ndef add(a, b):\n    return a + b\n\n\ndef scale(values, factor):\n    return [value * factor for value in values]\n",
  "test_calc.py": "from calc import add, scale\n\n\ndef test_add():\n    assert add(1, 2) == 3\n\n\ndef test_scale():\n    assert scale([1, 2], 2) == [2, 4]\n",
  "README.md": "# shop\n\nTODO: say what it does.\n",
};

const answer = `\`add()\` has type hints and a docstring now, and \`os\`, which nothing used, is gone.

\`\`\`python
def add(a: float, b: float) -> float:
    """The sum of both."""
    return a + b
\`\`\`

| check | result |
| --- | --- |
| tests | 2 passed |
| callers | unchanged |

Two things I left alone:

1. \`scale()\` would take an empty list, and returns one. That looks **intended**.
2. The README still has a \`TODO\`.
`;

export const demo = {
  coder: [
    {
      text: "I'll look at the function and at who calls it.",
      calls: [
        { tool: "read_file", args: { path: "calc.py" } },
        { tool: "search_code", args: { query: "add(" } },
        { tool: "read_file", args: { path: "test_calc.py" } },
      ],
      usage: { inputTokens: 1840, outputTokens: 122, cachedTokens: 900, costUsd: 0.0061 },
    },
    {
      calls: [
        {
          tool: "edit_file",
          args: { path: "calc.py", oldText: "import os\n\n\ndef add(a, b):\n    return a + b", newText: 'def add(a: float, b: float) -> float:\n    """The sum of both."""\n    return a + b' },
        },
      ],
      usage: { inputTokens: 2410, outputTokens: 210, cachedTokens: 1800, costUsd: 0.0074 },
    },
    { text: "Now the tests.", calls: [{ tool: "run_tests", args: {} }] },
    { text: answer, usage: { inputTokens: 2900, outputTokens: 260, cachedTokens: 2400, costUsd: 0.0081 } },
  ],
  "*": [{ text: "The change is small and does what was asked. Nothing to object to." }],
};
