"""Reads each body into its model and writes it again; prints the bodies that differ, null and missing being the same."""

import json
import sys

import models


def without_null(value):
    if isinstance(value, dict):
        return {name: without_null(each) for name, each in value.items() if each is not None}
    return [without_null(each) for each in value] if isinstance(value, list) else value


wrong = []
for name, body in json.load(sys.stdin):
    try:
        model = getattr(models, f"{name}_from_dict")({**body, "memberOfALaterVersion": [{"a": 1}]})
        written = getattr(models, f"{name}_to_dict")(model)
        if without_null(written) != without_null(body):
            wrong.append([name, body, written])
    except Exception as error:
        wrong.append([name, body, repr(error)])
print(json.dumps(wrong))
