import json, os, sys
def main():
    order = json.loads(sys.stdin.buffer.read())
    out = os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    passed, reason = 0, None
    scope = {'__name__': 'answer', '__builtins__': __builtins__}
    try:
        exec(compile(order['answer'], 'answer.py', 'exec'), scope)
        for i, test in enumerate(order['tests']):
            try:
                exec(compile(test, 'test %d' % (i + 1), 'exec'), scope)
                passed += 1
            except BaseException as error:
                reason = reason or 'test %d: %s: %s' % (i + 1, type(error).__name__, error)
    except BaseException as error:
        reason = 'the answer: %s: %s' % (type(error).__name__, error)
    told = json.dumps({'word': order['word'], 'passed': passed, 'reason': reason and reason[:500]})
    os.write(out, (told + '\n').encode())
    os._exit(0)
main()
