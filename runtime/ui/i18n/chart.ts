import { defineTexts } from './define.ts'

/** Texts of charts over time. */
export const chartTexts = defineTexts({
  en: {
    hint: 'Drag over the chart to see what was changed then.',
    keys: 'The arrow keys choose a stretch of time, with Shift a longer one.',
    changes: 'What was changed then',
  },
  fr: {
    hint: 'Glissez sur le graphique pour voir ce qui a changé à ce moment.',
    keys: 'Les flèches choisissent un moment, avec Maj un plus long.',
    changes: 'Ce qui a changé alors',
  },
})
