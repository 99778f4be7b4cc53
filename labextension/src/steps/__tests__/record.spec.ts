import { describe, expect, it } from 'vitest';

import { fromRecord } from '../record';
import { readHead, readStep } from '../readers';
import { priced, run, runFullOf, running, show } from './samples';

describe('fromRecord', () => {
  it('gives a run as something to draw', () => {
    expect(fromRecord(run())).toEqual({ v: 1, n: 0, run: run(), settings: null, step: null });
  });

  it('keeps every field of every kind of record', () => {
    expect(fromRecord(runFullOf('x'))?.run).toEqual(runFullOf('x'));
  });

  it.each([undefined, null, 'x', 3, [], {}, { version: '1' }, { version: 0 }, { ...run(), version: 2 }])(
    'gives nothing for %j',
    data => {
      expect(fromRecord(data)).toBeNull();
    }
  );

  it('draws a record that was cut in half', () => {
    const whole = JSON.stringify(run({ steps: [1, 2, 3].map(priced) }));
    const half = JSON.parse(`${whole.slice(0, whole.indexOf('"steps"'))}"steps": [{"step_number": 1}, null, 4]}`) as unknown;
    const snapshot = fromRecord(half);
    expect(snapshot?.run.steps).toEqual([{ step_number: 1, duration_s: 0 }]);
  });

  it('draws a record that was edited by hand, whatever stands in a field', () => {
    const odd = [null, true, -1, 1e300, '', 'x', [], [[]], {}, { a: 1 }];
    const names = Object.keys(runFullOf('x'));
    for (const name of names.filter(one => one !== 'version')) {
      for (const value of odd) {
        const data = { ...runFullOf('x'), [name]: value };
        const snapshot = fromRecord(data);
        expect(snapshot, `${name}: ${JSON.stringify(value)}`).not.toBeNull();
        if (snapshot) {
          const { element, dispose } = show(snapshot.run, null);
          expect(element.querySelector('.jp-AgentMagic-head')?.textContent).not.toBe('');
          dispose();
        }
      }
    }
  });
});

describe('readers', () => {
  it('take names that are special for what they are: names', () => {
    const step = readStep(JSON.parse('{"step_number": 1, "calls": [{"name": "f", "arguments": {"__proto__": {"x": 1}}}]}'));
    const given = step && 'calls' in step ? step.calls?.[0]?.arguments : undefined;
    expect(Object.keys(given ?? {})).toEqual(['__proto__']);
    expect(({} as { x?: number }).x).toBeUndefined();
  });

  it('drop what is unknown', () => {
    expect(readHead({ ...running(), onclick: 'x' })).not.toHaveProperty('onclick');
  });
});
