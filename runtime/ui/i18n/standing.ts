import { defineTexts } from './define.ts'

/** Texts about what keeps a workload from campaigns and pushes. */
export const standingTexts = defineTexts({
  en: {
    under: (name: string) => `It is under the fleet config ${name}.`,
    willHold:
      'A push to it alone holds it: campaigns leave it alone until somebody releases it, and after seven days it counts as overdue.',
    rivals: (names: string) => `${names} selects it with the same priority, so it stays where it was.`,
    held: (who: string) => `Held by ${who}: campaigns leave it alone.`,
    overdue: 'The time for it is over.',
    release: 'Release',
    released: 'Released. Nothing was pushed by it.',
    frozen: (until: string) => `Frozen until ${until}: a push needs the glass broken.`,
  },
  fr: {
    under: (name: string) => `Il relève de la config de parc ${name}.`,
    willHold:
      'Une poussée à lui seul le retient : les campagnes le laissent jusqu’à ce que quelqu’un le relâche ; après sept jours, c’est en retard.',
    rivals: (names: string) => `${names} le choisit avec la même priorité, il reste donc où il était.`,
    held: (who: string) => `Retenu par ${who} : les campagnes le laissent.`,
    overdue: 'Le délai est passé.',
    release: 'Relâcher',
    released: 'Relâché. Rien n’a été poussé.',
    frozen: (until: string) => `Gelé jusqu’au ${until} : il faut briser la glace pour pousser.`,
  },
})
