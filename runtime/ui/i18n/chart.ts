import { defineTexts } from './define.ts'

/** Texts of charts over time. */
export const chartTexts = defineTexts({
  en: {
    hint: 'Drag over the chart, or use the arrow keys and Enter, to see what was changed then.',
    keys: 'The arrow keys choose a stretch of time, with Shift a longer one; Enter shows what was changed then.',
    changes: 'What was changed then',
  },
  fr: {
    hint: 'Glissez sur le graphique, ou utilisez les flèches et Entrée, pour voir ce qui a changé à ce moment.',
    keys: 'Les flèches choisissent un moment, avec Maj un plus long ; Entrée montre ce qui a changé alors.',
    changes: 'Ce qui a changé alors',
  },
})
