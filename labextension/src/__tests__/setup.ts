/** What JupyterLab's libraries want of a page at import, and jsdom does not have. */
globalThis.DragEvent ??= class extends MouseEvent {} as unknown as typeof DragEvent;
