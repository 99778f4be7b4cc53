from __future__ import annotations

from inline_snapshot import snapshot

from agent_magic.notebook.options.help import help_text


def test_help_names_every_option_and_command():
    assert help_text() == snapshot("""\
%%agent [NAME] [options]
the task, in the lines below

NAME is the variable that holds the agent [agent]; the same NAME goes on with the same memory.
In the task, @name hands over a function (as a tool) or a variable; \\@name is plain text.

Options [default]; those marked * hold for one cell, the others stay the agent's:
  --tools NAME…                     functions it may call, variables it may use; given again, they replace these
  --state named|all                 named: only names handed over; all: every variable of the notebook [named]
  --model ID                        provider/name, local, or @m for a Model object m [see %agent models]
  --model-args k=v,…                passed to the model, such as temperature=0
  --mode tools|code                 tools: it calls functions; code: it writes Python that runs in this notebook; another mode needs --new [tools]
  --max-steps N                     steps of one run; then it must answer [20]
  --max-tool-threads N              tool calls that may run side by side [128]
  --plan N|off                      plan before step 1 and again every N steps [off]
  --summary-mode plan|all|off       which calls see the history without old plans and thoughts: those for a plan, all, or none [plan]
  --check FUNC…|none                functions that every answer must pass: False or an exception refuses it; given again, they replace these [none]
  --answer-type TYPE|any            what the answer must be: float, list[str], Literal['a', 'b'], a dataclass or pydantic model [any]
  --approve never|code|tools|all    what waits for your word before it counts: nothing, code, tool calls (those in code too), or code, calls and plans [never]
  --writes new|all|none             code may bind new names, your names too, or none [new]
  --protect NAME…|none              variables that code may not change; given again, they replace these [all of yours]
  --imports MODULE…|none            modules that code may import beside the safe ones and yours; * for all; given again, they replace these [none]
  --step-timeout SECONDS|none       code is stopped after so many seconds of its own [30]
  --max-time SECONDS|none           a run ends before the call that would pass so many seconds, or amid it [none]
  --max-cost USD|none               a run ends before the call that would pass so many US dollars [none]
  --max-total-tokens N|none         likewise so many tokens, input and output together [none]
  --prompts FILE|none               a YAML file whose texts replace those of the built-in prompts [none]
  --images auto|none                auto: a model that sees is sent the images you mention [auto]
  --as NAME                       * bind the answer to this variable
  --new                           * start afresh: forget memory, options and tools
  --define                        * make or change the agent, run nothing; the body is its instructions
  --resume                        * go on with the last run, which was not answered; the body, if any, corrects it
  --description TEXT                what this agent is for
  --instructions TEXT               how it should work, for every task
  --raise                         * a run without an answer is an error of the cell [on where the front end takes no input]
  --no-raise                      * a run without an answer is no error
  --quiet                         * show the header and the answer only

Commands:
  %agent list                    the agents of this notebook
  %agent tools [NAME]            what an agent may call; of one function what models are told of it, and what is weak
  %agent preview [NAME] [STEP] [act|plan|final] [--summary-mode plan|all|off]
                                 what the model will be sent next, or was sent in that step of the last run
  %agent steps [NAME]            what an agent remembers, step by step
  %agent undo [NAME] [--step N]  take back what the last run, or one step of it, made of your variables
  %agent blame VAR [NAME]        which runs and steps last changed a variable
  %agent resume [NAME] [TEXT]    go on with a run that was not answered; TEXT corrects it
  %agent retry [NAME]            do the last task again from its beginning
  %agent reset [NAME]            forget an agent's memory; its options and tools stay
  %agent models [TEXT]           which models can run here, and why one is chosen; the ids with TEXT in them
  %agent doctor [--json]         what works here and what does not, with the fix for each fault; asks no address but loopback
  %agent help                    this text\
""")
