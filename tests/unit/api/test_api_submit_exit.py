"""Programs that end while a compiler works: each in a process of its own."""

from __future__ import annotations

import subprocess
import sys
import textwrap

SECONDS = 30


def run_program(body: str, *, leaks: bool = False) -> str:
    """Run a program that compiles, and return what it writes; it must end by itself."""
    start = """
        import sys, threading
        from maskwright import GrammarCompiler, TokenizerInfo
        info = TokenizerInfo([*(chr(i) for i in range(32, 127)), ""], stop_token_ids=95)
        compiler = GrammarCompiler(info, max_threads=1)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(start) + textwrap.dedent(body)],
        capture_output=True,
        text=True,
        timeout=2 * SECONDS,
        check=True,
    )
    assert leaks or done.stderr == ""
    return done.stdout


def test_a_program_ends_with_work_in_flight() -> None:
    """What runs comes to its end, what waits is cancelled."""
    written = run_program("""
        import atexit
        from maskwright import compile_requests, Grammar
        begun, never = threading.Event(), threading.Event()
        def gated(source):
            def make_grammar():
                begun.set()
                while threading.main_thread().is_alive():
                    never.wait(0.01)
                return Grammar.from_regex(source)
            return compile_requests.CompileRequest((source,), make_grammar)
        compile_requests.KINDS["regex"] = gated
        running, waiting = [compiler.submit("regex", source) for source in "ab"]
        begun.wait()
        atexit.register(lambda: print(running.exception(), waiting.cancelled()))
    """)
    assert written.split() == ["None", "True"]


def test_a_program_does_not_end_while_one_of_its_threads_runs() -> None:
    written = run_program("""
        def ask():
            while threading.main_thread().is_alive():
                threading.Event().wait(0.01)
            print(compiler.submit("regex", "a").exception())
        threading.Thread(target=ask).start()
    """)
    assert written == "None\n"


def test_a_program_ends_with_a_time_limit_far_ahead() -> None:
    assert (
        run_program("""
        future = compiler.submit("regex", "a", timeout_seconds=1e6)
        print(future.result() is not None)
        compiler.submit("regex", "b", timeout_seconds=1e6)
    """)
        == "True\n"
    )


def test_a_program_ends_though_a_time_limit_is_not_over() -> None:
    """A daemon of the program computes, and never comes to an end."""
    assert (
        run_program(
            """
        from maskwright import compile_requests, compiler as module
        begun = threading.Event()
        def gated(source):
            def make_grammar():
                begun.set()
                threading.Event().wait()
            return compile_requests.CompileRequest((source,), make_grammar)
        compile_requests.KINDS["regex"] = module.regex_request = gated
        threading.Thread(target=lambda: compiler.compile_regex("a"), daemon=True).start()
        begun.wait()
        future = compiler.submit("regex", "a", timeout_seconds=1e6)
        print(future.done(), flush=True)
    """,
            leaks=True,
        )
        == "False\n"
    )
