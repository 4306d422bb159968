"""Renders templates with jinja2 for the fuzz test: one JSON request a line on stdin, one JSON answer a line on stdout.

Request {"template", "context"}; answer {"text"} or {"error": class of the exception}. The environment is the one that transformers
builds for apply_chat_template, with a standing clock.
"""
import datetime
import json
import signal
import sys

import jinja2
import jinja2.ext
import jinja2.nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

NOW = datetime.datetime(2025, 6, 4, 13, 7, 9)


class Generation(jinja2.ext.Extension):
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_run"), [], [], body).set_lineno(line)

    @jinja2.pass_eval_context
    def _run(self, context, caller):
        return caller()


def environment():
    env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols])

    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    def raise_exception(message):
        raise jinja2.exceptions.TemplateError(message)

    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = lambda format: NOW.strftime(format)
    return env


def main():
    env = environment()
    if "--version" in sys.argv:
        print(json.dumps({"jinja2": jinja2.__version__, "python": sys.version.split()[0]}))
        return

    def too_long(*_):
        raise MemoryError("took too long")

    signal.signal(signal.SIGALRM, too_long)
    source, template = None, None
    for line in sys.stdin:
        request = json.loads(line)
        signal.alarm(10)
        try:
            if source != request["template"]:
                source, template = None, env.from_string(request["template"])
                source = request["template"]
            answer = {"text": template.render(**request["context"])}
        except Exception as error:
            answer = {"error": type(error).__name__, "message": str(error)[:200]}
        signal.alarm(0)
        sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


main()
