"""Small Python programs out of a strategy: there are few names, so that scopes shadow each other all the time."""

from hypothesis import strategies as st

NAMES = ("a", "b", "c", "größe")
_names = st.sampled_from(NAMES)
_numbers = st.integers(0, 9).map(str)


def _expressions(depth: int) -> st.SearchStrategy[str]:
    leaf = st.one_of(_names, _numbers)
    if depth == 0:
        return leaf
    inner = _expressions(depth - 1)
    return st.one_of(
        leaf,
        st.builds("({} + {})".format, inner, inner),
        st.builds("[{0} for {1} in range({2})]".format, inner, _names, inner).map(lambda text: f"len({text})"),
        st.builds("(lambda {0}, {1}={2}: {3})({4})".format, _names, st.just("zz"), inner, inner, inner),
        st.builds("({0} := {1})".format, _names, inner),
        st.builds("len(f'{{type({0})}} a b c')".format, inner),
    )


def _joined(parts: list[list[str]]) -> list[str]:
    return [line for part in parts for line in part]


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _statements(depth: int) -> st.SearchStrategy[list[str]]:
    expression = _expressions(1)
    simple = st.one_of(
        st.builds("{} = {}".format, _names, expression),
        st.builds("{} += {}".format, _names, expression),
        st.builds("print({})".format, expression),
        st.builds("{0}, {1} = {2}, {3}".format, _names, _names, expression, expression),
        st.builds("print('a b c größe')  # a b c".format),
    ).map(lambda line: [line])
    if depth == 0:
        return simple
    block = st.lists(_statements(depth - 1), min_size=1, max_size=3).map(_joined)
    return st.one_of(
        simple,
        st.builds(lambda name, body: [f"for {name} in range(2):", *_indented(body)], _names, block),
        st.builds(_function, _names, _names, expression, st.sampled_from(["", "global", "nonlocal"]), _names, block),
        st.builds(_class, _names, _names, expression, block),
        st.builds(lambda body: ["try:", *_indented(body), "except (NameError, TypeError): print('no')"], block),
    )


def _function(name: str, parameter: str, default: str, word: str, declared: str, body: list[str]) -> list[str]:
    first = [f"{word} {declared}"] if word and declared != parameter else []
    call = f"print({name}({parameter}=1) is None)"
    return [f"def {name}({parameter}={default}):", *_indented([*first, *body, f"return {parameter}"]), call]


def _class(name: str, member: str, value: str, body: list[str]) -> list[str]:
    inside = [f"{member} = {value}", *body, f"def m(self, {member}={member}): return {member}"]
    return [f"class {name}:", *_indented(inside), f"print({name}.{member})", f"print({name}().m())"]


#: Whatever it does, it says so and ends.
programs = st.lists(_statements(2), min_size=1, max_size=6).map(
    lambda parts: "\n".join(["a = b = c = größe = 1", *_joined(parts)]) + "\n"
)
