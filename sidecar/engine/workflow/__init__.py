"""What is done for a task: route it, let the agents of its pipeline work, verify it, each step a checkpoint.

- `workflow.py` is what the worker calls; `rounds.py` is the way from what was asked to the result, `stages.py` are the
  steps of each kind of task, `planned.py` those of a plan.
- `desk.py` is where an agent works: its model, its tools, what it is told; `books.py` keeps what it said and did.
- `steering.py` says which of the person's words have reached nobody yet.
- `handover.py` is what one agent tells the next, and what the person is told in the end.
- `proof.py` is what comes after the agents: verification, further attempts, a person. `trial.py` is how its checks are
  run, `touched.py` whether there is anything to verify.
"""

from sidecar.engine.workflow.workflow import Workflow

__all__ = ["Workflow"]
