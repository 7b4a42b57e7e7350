#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Operator cases against ONNX Runtime: check.py FILE.case ...

Needs onnx, onnxruntime and numpy.  Every case is run with two sets of sizes; what comes out must be
what the case expects.  Cases that the runtime cannot run are counted by its reason; --why prints them.
"""
import collections
import re
import sys

import numpy as np
import onnx
import onnx.parser
import onnxruntime as ort

ort.set_default_logger_severity(4)
DOMAINS = {'ai.onnx.ml': 5, 'com.microsoft': 1, 'com.microsoft.nchwc': 1, 'ai.onnx.preview': 1,
           'ai.onnx.preview.training': 1}


def cases(path):
    case = None
    for number, line in enumerate(open(path), 1):
        line = line.rstrip('\n')
        if line.startswith('case '):
            if case:
                yield case
            op, version = re.match(r'case (\S+) (\d+)', line).groups()
            case = {'at': f'{path}:{number}', 'line': line, 'op': op, 'version': int(version),
                    'in': [], 'nodes': [], 'out': []}
        elif case and line.startswith('|'):
            case['nodes'].append(line[1:].strip())
        elif case and line.startswith('>'):
            case['out'].append(line[1:].strip())
        elif case and line and not line.startswith('#'):
            case['in'].append(line)
    if case:
        yield case


def text(case):
    """The case as a model in ONNX's textual syntax."""
    domain, _, _ = case['op'].rpartition(':')
    versions = dict(DOMAINS)
    versions[domain] = case['version']
    versions.setdefault('', 17)
    imports = ', '.join(f'"{d}" : {v}' for d, v in versions.items())
    inputs = [i for i in case['in'] if '=' not in i]
    known = [i for i in case['in'] if '=' in i]
    names = [o.split('=')[0].split()[-1] for o in case['out'] if not o.startswith('fails')]
    if not names:
        names = [n.strip() for n in case['nodes'][-1].split('=')[0].split(',') if '"' not in n]
    return (f'<ir_version: 8, opset_import: [{imports}]>\n'
            f'g ({", ".join(inputs)}) => ({", ".join(names)})\n<{", ".join(known)}>\n'
            '{ ' + '\n'.join(case['nodes']) + ' }')


def feed(value, sizes):
    t = value.type.tensor_type
    dims = [d.dim_value if d.HasField('dim_value') else sizes[d.dim_param] for d in t.shape.dim]
    if t.elem_type == onnx.TensorProto.STRING:
        return np.full(dims, 'a', dtype=object)
    return np.ones(dims, onnx.helper.tensor_dtype_to_np_dtype(t.elem_type))


def expected(line, sizes):
    """(type, dims or None, elements or None) of "float[b,3] y = {1, 2}"."""
    left, _, right = line.partition('=')
    kind = left.split()[0]
    m = re.match(r'(\w+)(?:\[(.*)\])?$', ''.join(left.split()[:-1]))
    names = {**{k: v for k, v in sizes.items()}, 'min': min, 'max': max}

    def number(s):
        s = s.strip()
        try:
            return eval(s, {'__builtins__': {}}, names) if s != '?' else None
        except (NameError, SyntaxError, TypeError):
            return None  # a fresh size
    if not m or kind in ('?', 'seq', 'optional'):
        return None
    dims = m.group(2)
    if dims is None:
        dims = []
    else:
        dims = [number(d) for d in re.split(r',(?![^(]*\))', dims)] if dims else None
    elements = None
    if right.strip():
        elements = [number(e) for e in re.split(r',(?![^(]*\))', right.strip()[1:-1])]
    return m.group(1), dims, elements


def run(case, sizes):
    model = onnx.parser.parse_model(text(case))
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(model.SerializeToString(), options, ['CPUExecutionProvider'])
    given = {v.name: feed(v, sizes) for v in model.graph.input}
    return dict(zip([o.name for o in model.graph.output], session.run(None, given)))


def wrong(case, sizes, got):
    for line in case['out']:
        want = expected(line, sizes)
        if not want:
            continue
        value = np.asarray(got[line.split('=')[0].split()[-1]])
        kind = 'string' if value.dtype == object or value.dtype.kind == 'U' else \
            {'float64': 'double', 'float32': 'float'}.get(str(value.dtype), str(value.dtype))
        dims = want[1] if want[1] is not None else [None] * value.ndim
        if kind != want[0] or len(dims) != value.ndim or \
                any(d is not None and d != v for d, v in zip(dims, value.shape)):
            return f'{line}: the runtime gives {kind}{list(value.shape)} for {sizes}'
        if want[2] and any(e is not None and abs(e - float(v)) > 1e-6
                           for e, v in zip(want[2], value.ravel())):
            return f'{line}: the runtime gives {value.ravel()} for {sizes}'
    return None


def main():
    why = '--why' in sys.argv
    count = collections.Counter()
    for path in [a for a in sys.argv[1:] if a != '--why']:
        for case in cases(path):
            names = sorted({n for i in case['in'] for n in
                            re.findall(r'[A-Za-z_]\w*', (re.findall(r'\[(.*?)\]', i) or [''])[0])})
            if case['out'][0].startswith('fails'):
                count['expected to fail: not run'] += 1  # some crash the runtime
                continue
            for first in (2, 3):
                sizes = {n: first + 6 * k % 11 for k, n in enumerate(names)}
                try:
                    got = run(case, sizes)
                except Exception as error:  # pylint: disable=broad-except
                    count['not run'] += 1
                    if why:
                        print(case['at'], case['line'], str(error).replace('\n', ' ')[:220])
                    break
                problem = wrong(case, sizes, got)
                count['wrong' if problem else 'right'] += 1
                if problem:
                    print(case['at'], case['line'], problem)
    print(dict(count))
    return count['wrong'] != 0


if __name__ == '__main__':
    sys.exit(main())
