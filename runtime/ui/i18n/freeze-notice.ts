import { defineTexts, plural } from './define.ts'
import { formatNumber } from './format.ts'

/** Texts of the notice that workloads are frozen; apart from those of the settings, as the first page has it. */
export const freezeNoticeTexts = defineTexts({
  en: {
    allFrozen: (until: string) =>
      `The whole fleet is frozen until ${until}: campaigns wait, and a push needs the glass broken.`,
    someFrozen: (count: number, until: string) =>
      `${formatNumber(count)} ${plural(count, 'workload is', 'workloads are')} frozen until ${until}: campaigns wait there, and a push needs the glass broken.`,
  },
  fr: {
    allFrozen: (until: string) =>
      `Tout le parc est gelé jusqu’au ${until} : les campagnes attendent, et il faut briser la glace pour pousser.`,
    someFrozen: (count: number, until: string) =>
      `${formatNumber(count)} ${plural(count, 'workload est gelé', 'workloads sont gelés')} jusqu’au ${until} : les campagnes y attendent, et il faut briser la glace pour pousser.`,
  },
})
