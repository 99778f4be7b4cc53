// The law of the front end, as far as a machine can hold us to it.
import js from '@eslint/js';
import tseslint from 'typescript-eslint';

const TEXT_ONLY = 'Text of a model, a tool or a person becomes a text node: use textContent or append().';
const MARKUP = ['innerHTML', 'outerHTML', 'srcdoc'];
const MARKUP_CALLS = [
  'insertAdjacentHTML',
  'setHTML',
  'setHTMLUnsafe',
  'parseFromString',
  'parseHTMLUnsafe',
  'createContextualFragment'
];

/** Forbids imports; a law names a file and what it may not know. */
function imports(files, forbidden) {
  return {
    files,
    ignores: ['**/*.spec.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        { patterns: forbidden.map(([group, message]) => ({ group, message, caseSensitive: true })) }
      ]
    }
  };
}

const LAB = [
  ['@jupyterlab/*', '@lumino/*', '@jupyter/*'],
  'Only index, bridge and mime know JupyterLab: the rest is drawn in every front end.'
];

const ABOVE = [
  ['**/mime', '**/bridge', '**/index', '**/entry'],
  'What draws in every front end does not know who draws with it.'
];
const PANEL = [['**/panel/*'], 'The view of a run does not know the panel of an agent: that one knows it.'];
/** Files of steps/ that run without a page. */
const NO_PAGE = ['store', 'editing', 'growing', 'readers', 'reading', 'record', 'text', 'words'];

export default tseslint.config(
  { ignores: ['lib/', 'node_modules/'] },
  js.configs.recommended,
  ...tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname }
    },
    rules: {
      '@typescript-eslint/explicit-function-return-type': ['error', { allowExpressions: true }],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      // A name with an underscore says that it is left out.
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true }
      ],
      eqeqeq: 'error',
      'no-console': 'error',
      'no-eval': 'error',
      'no-implied-eval': 'error',
      'no-new-func': 'error',
      'no-script-url': 'error',
      'no-restricted-syntax': [
        'error',
        {
          selector: `AssignmentExpression > MemberExpression[property.name=/^(${MARKUP.join('|')})$/].left`,
          message: TEXT_ONLY
        },
        {
          selector: `AssignmentExpression > MemberExpression[property.value=/^(${MARKUP.join('|')})$/].left`,
          message: TEXT_ONLY
        },
        { selector: `CallExpression[callee.property.name=/^(${MARKUP_CALLS.join('|')})$/]`, message: TEXT_ONLY },
        { selector: 'CallExpression[callee.object.name="document"][callee.property.name=/^write/]', message: TEXT_ONLY },
        {
          selector: 'CallExpression[callee.property.name="setAttribute"] > Literal.arguments:first-child[value=/^(on|srcdoc)/i]',
          message: 'A handler is a function: use addEventListener().'
        }
      ]
    }
  },
  imports(['src/steps/**/*.ts'], [LAB, ABOVE, PANEL]),
  imports(['src/panel/**/*.ts'], [LAB, ABOVE]),
  imports(['src/entry.ts'], [LAB, [['**/mime', '**/bridge', '**/index'], 'The widget works without our extension.']]),
  imports(NO_PAGE.map(name => `src/steps/${name}.ts`), [
    LAB,
    ABOVE,
    PANEL,
    [['./*', ...NO_PAGE.map(name => `!./${name}`)], 'The fold of messages into a run knows no page.']
  ]),
  imports(['src/protocol.ts'], [[['*'], 'protocol knows nothing.']]),
  {
    files: ['**/*.mjs', 'style/*.js'],
    extends: [tseslint.configs.disableTypeChecked],
    languageOptions: { globals: { process: 'readonly' } },
    rules: { '@typescript-eslint/explicit-function-return-type': 'off' }
  }
);
