"""`python -m rehearsal_learn` is the command `rehearsal`."""

from ._program import main

main()
