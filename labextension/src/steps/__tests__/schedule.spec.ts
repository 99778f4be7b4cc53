import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { Frames } from '../schedule';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe('frames', () => {
  it('make one drawing of many changes', () => {
    const draw = vi.fn();
    const frames = new Frames(draw);
    for (let i = 0; i < 100; i++) {
      frames.ask();
    }
    vi.advanceTimersByTime(1_000);
    expect(draw).toHaveBeenCalledTimes(1);
  });

  it('are drawn by a timer where the page gives none', () => {
    vi.stubGlobal('requestAnimationFrame', () => 1);
    const draw = vi.fn();
    new Frames(draw).ask();
    vi.advanceTimersByTime(249);
    expect(draw).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(draw).toHaveBeenCalledTimes(1);
  });

  it('catch up when the page comes back', () => {
    vi.stubGlobal('requestAnimationFrame', () => 1);
    const draw = vi.fn();
    new Frames(draw).ask();
    document.dispatchEvent(new Event('visibilitychange'));
    expect(draw).toHaveBeenCalledTimes(1);
  });

  it('end with their view', () => {
    const draw = vi.fn();
    const frames = new Frames(draw);
    frames.ask();
    frames.dispose();
    frames.ask();
    vi.advanceTimersByTime(1_000);
    expect(draw).not.toHaveBeenCalled();
  });
});
