import { defineTexts } from './define.ts'

/** Texts of the field for a selector's conditions. */
export const selectorTexts = defineTexts({
  en: {
    conditions: 'Conditions on labels, one a line',
    conditionsHint:
      'muster/env=prod · muster/tier in (edge, rim) · identity/host.name in (web-*) · muster/site · !muster/kept. What starts with muster/ is set by operators; identity/ is what agents claim to be.',
    badCondition: (line: string) => `This line is no condition: ${line}`,
  },
  fr: {
    conditions: 'Conditions sur les étiquettes, une par ligne',
    conditionsHint:
      'muster/env=prod · muster/tier in (edge, rim) · identity/host.name in (web-*) · muster/site · !muster/kept. Ce qui commence par muster/ est posé par les opérateurs ; identity/ est ce que les agents disent être.',
    badCondition: (line: string) => `Cette ligne n’est pas une condition : ${line}`,
  },
})
