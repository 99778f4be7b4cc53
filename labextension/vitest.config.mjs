import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    environment: 'jsdom',
    include: ['src/**/*.spec.ts'],
    setupFiles: ['src/__tests__/setup.ts'],
    // A file's tests see no page that another's left behind.
    isolate: true,
    restoreMocks: true
  }
});
