import { defineTexts } from './define.ts'

/** What stands in the way out of a config that failed, and who can take it, said before a button refuses. */
export const wayOutTexts = defineTexts({
  en: {
    back: (why: string) => `You cannot roll it back. ${why}`,
    correct: (why: string) => `You cannot correct it. ${why}`,
    role: { viewer: 'viewers', editor: 'editors', administrator: 'administrators' },
    who: (roles: string, last: string) =>
      `Who can: ${roles} whose scope reaches it${last && `, such as ${last}, who pushed it`}.`,
    frozen: (until: string, why: string) =>
      `Frozen until ${until} (${why}): a corrected config is pushed after that, or by breaking the glass; going back to an earlier one is not held up.`,
    noGlass: (why: string) => `You cannot break the glass. ${why}`,
    frozenBack: (until: string) => `Frozen until ${until}: going back is not held up by that.`,
  },
  fr: {
    back: (why: string) => `Vous ne pouvez pas revenir en arrière. ${why}`,
    correct: (why: string) => `Vous ne pouvez pas la corriger. ${why}`,
    role: { viewer: 'les lecteurs', editor: 'les éditeurs', administrator: 'les administrateurs' },
    who: (roles: string, last: string) =>
      `Qui peut : ${roles} dont le périmètre l’atteint${last && `, comme ${last}, qui l’a poussée`}.`,
    frozen: (until: string, why: string) =>
      `Gelé jusqu’au ${until} (${why}) : une config corrigée se pousse ensuite, ou par bris de glace ; revenir à une config antérieure reste possible.`,
    noGlass: (why: string) => `Vous ne pouvez pas briser la glace. ${why}`,
    frozenBack: (until: string) => `Gelé jusqu’au ${until} : un retour en arrière reste possible.`,
  },
})
