# Prints what is wrong with the syntax of the files that it reads the names of, one candidate's, as JSON. Run by `python -c`.
import json, sys
found = []
for file in json.load(sys.stdin):
    try:
        with open("./" + file, "rb") as source:
            compile(source.read(), file, "exec", 0x400, True)
    except (SyntaxError, ValueError) as error:
        found.append({"file": file, "line": getattr(error, "lineno", 1) or 1, "message": getattr(error, "msg", None) or str(error)})
    except (RecursionError, MemoryError):
        found.append({"file": file, "line": 1, "message": "too deeply nested"})
print(json.dumps(found))
