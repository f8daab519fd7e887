import { closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { yaml } from '@codemirror/lang-yaml'
import {
  bracketMatching,
  foldGutter,
  foldKeymap,
  HighlightStyle,
  indentOnInput,
  syntaxHighlighting,
} from '@codemirror/language'
import { lintKeymap } from '@codemirror/lint'
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search'
import { EditorState, type Extension } from '@codemirror/state'
import { EditorView, highlightActiveLine, highlightSpecialChars, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { language } from '../i18n/define.ts'

const COLORS = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--accent)' },
  { tag: tags.comment, color: 'var(--faint)', fontStyle: 'italic' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--ok)' },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword], color: 'var(--warn)' },
  { tag: [tags.punctuation, tags.separator, tags.meta], color: 'var(--muted)' },
])

const THEME = EditorView.theme({
  '&': { color: 'var(--ink)', backgroundColor: 'var(--surface)' },
  // The outline lies under the line numbers, which stand in a layer of their own: the ring is drawn above them again.
  '&.cm-focused': {
    outline: '2px solid var(--accent)',
    outlineOffset: '-2px',
    borderRadius: 'var(--radius)',
  },
  '&.cm-focused::after': {
    content: '""',
    position: 'absolute',
    inset: '0',
    zIndex: '300',
    border: '2px solid var(--accent)',
    borderRadius: 'var(--radius)',
    pointerEvents: 'none',
  },
  '.cm-content': { caretColor: 'var(--ink)' },
  '.cm-gutters': { backgroundColor: 'var(--surface)', color: 'var(--faint)', border: '0' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--hover)' },
  '.cm-selectionBackground, &.cm-focused .cm-selectionBackground, ::selection': {
    backgroundColor: 'var(--accent-soft) !important',
  },
  '.cm-panels, .cm-tooltip': {
    backgroundColor: 'var(--raised)',
    color: 'var(--ink)',
    border: '1px solid var(--line)',
  },
  // As the fields and buttons of the pages are; its own are those of a bare browser, and smaller.
  '.cm-panel.cm-search': { padding: '6px 28px 6px 8px', font: '13px var(--sans)' },
  '.cm-panel.cm-search label': { fontSize: '13px', marginRight: '8px' },
  '.cm-panel.cm-search input.cm-textfield, .cm-panel.cm-search button.cm-button': {
    color: 'var(--ink)',
    background: 'var(--surface)',
    border: '1px solid var(--line)',
    borderRadius: 'var(--radius)',
    padding: '3px 9px',
    fontSize: '13px',
    cursor: 'pointer',
  },
  '.cm-panel.cm-search input.cm-textfield': { cursor: 'text' },
  '.cm-panel.cm-search button.cm-button:hover': { borderColor: 'var(--line-strong)' },
  '.cm-panel.cm-search button[name=close]': { color: 'var(--muted)', fontSize: '18px', padding: '0 6px' },
  '.cm-searchMatch': { backgroundColor: 'var(--warn-soft)' },
  '.cm-changedLine, .cm-insertedLine': { backgroundColor: 'var(--ok-soft) !important' },
  '.cm-deletedChunk': { backgroundColor: 'var(--bad-soft) !important' },
  '&.cm-merge-a .cm-changedLine': { backgroundColor: 'var(--bad-soft) !important' },
  '.cm-changedText': {
    background: 'none !important',
    textDecoration: 'underline',
    textUnderlineOffset: '3px',
  },
  '.cm-deletedText': { background: 'none !important', textDecoration: 'line-through' },
  '.cm-collapsedLines::before, .cm-collapsedLines::after': { content: 'none !important' },
  '.cm-collapsedLines': { background: 'var(--hover) !important', color: 'var(--muted) !important' },
  '.cm-collapsedLines:hover': { color: 'var(--ink) !important', textDecoration: 'underline' },
})

/** Where the editor's own words do not say what a click does. */
const ENGLISH = { '$ unchanged lines': 'Show $ unchanged lines' }

/** The editor's own words in the reader's language. */
const FRENCH = {
  Find: 'Chercher',
  next: 'suivant',
  previous: 'précédent',
  all: 'tous',
  'match case': 'casse',
  'by word': 'mot entier',
  regexp: 'regexp',
  replace: 'remplacer',
  Replace: 'Remplacer',
  'replace all': 'tout remplacer',
  close: 'fermer',
  'Folded lines': 'Lignes repliées',
  'Unfolded lines': 'Lignes dépliées',
  'Fold line': 'Replier',
  'Unfold line': 'Déplier',
  Completions: 'Propositions',
  Diagnostics: 'Constats',
  '$ unchanged lines': 'Montrer $ lignes inchangées',
}

/** What every YAML view has. Tab leaves it, also where it is edited: Ctrl-] indents (WCAG 2.1.2). */
export function baseExtensions(label: string, isEditable: boolean): Extension[] {
  return [
    lineNumbers(),
    // Signs that turn the direction of writing, or that nobody sees, are shown as a red dot with their name.
    highlightSpecialChars(),
    foldGutter(),
    yaml(),
    syntaxHighlighting(COLORS),
    THEME,
    bracketMatching(),
    highlightSelectionMatches(),
    EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
    EditorState.phrases.of(language.peek() === 'fr' ? FRENCH : ENGLISH),
    isEditable
      ? [
          history(),
          indentOnInput(),
          closeBrackets(),
          highlightActiveLine(),
          EditorState.tabSize.of(2),
          keymap.of([
            ...closeBracketsKeymap,
            ...defaultKeymap,
            ...searchKeymap,
            ...historyKeymap,
            ...foldKeymap,
            ...completionKeymap,
            ...lintKeymap,
          ]),
        ]
      : [
          EditorState.readOnly.of(true),
          EditorView.contentAttributes.of({ 'aria-readonly': 'true' }),
          keymap.of([...searchKeymap, ...foldKeymap]),
        ],
  ]
}
