import type { Selector } from '../../../lib/wire/selectors.ts'
import { selectorLines } from '../logic/selector-lines.ts'
import { defineTexts, plural, say } from './define.ts'
import { formatNumber } from './format.ts'

const workloadsEn = (count: number) => `${formatNumber(count)} ${plural(count, 'workload', 'workloads')}`

/** Texts of freezes in the settings. */
export const freezeTexts = defineTexts({
  en: {
    title: 'Freeze',
    lead: 'A freeze keeps campaigns from workloads until a time. A push there needs the glass broken; rollbacks go on, automatic ones and those by hand.',
    none: 'Nothing is frozen.',
    what: 'What is frozen',
    all: 'the whole fleet',
    until: 'Until',
    why: 'Why',
    by: 'Set by',
    count: 'Now about',
    workloads: workloadsEn,
    selectorHint: 'Empty for the whole fleet.',
    example: 'For example:',
    previewNone: 'No workload meets these conditions now: nothing is frozen by it until one does.',
    isPast: 'This time is over.',
    previewAll: (count: number | null) =>
      `The whole fleet${count === null ? '' : `, ${workloadsEn(count)},`} is to be frozen.`,
    preview: (count: number) =>
      `${workloadsEn(count)} ${plural(count, 'meets', 'meet')} these conditions now.`,
    set: 'Freeze',
    change: 'Change the freeze…',
    replace: 'Replace the freeze',
    done: 'Frozen.',
    lift: 'Lift the freeze',
    liftAsk: 'From then on campaigns go on where they stopped, and pushes need no broken glass.',
    lifted: 'The freeze is lifted.',
    needs: 'A reason and a time that is still to come are needed.',
  },
  fr: {
    title: 'Gel',
    lead: 'Un gel tient les campagnes loin des workloads jusqu’à une heure. Y pousser exige de briser la glace ; les retours en arrière continuent, automatiques ou à la main.',
    none: 'Rien n’est gelé.',
    what: 'Ce qui est gelé',
    all: 'tout le parc',
    until: 'Jusqu’au',
    why: 'Pourquoi',
    by: 'Posé par',
    count: 'Concerne maintenant',
    workloads: workloadsEn,
    selectorHint: 'Vide pour tout le parc.',
    example: 'Par exemple :',
    previewNone:
      'Aucun workload ne remplit ces conditions maintenant : rien n’en est gelé jusqu’à ce que l’un les remplisse.',
    isPast: 'Cette heure est passée.',
    previewAll: (count: number | null) =>
      `Tout le parc${count === null ? '' : `, ${workloadsEn(count)},`} sera gelé.`,
    preview: (count: number) =>
      `${workloadsEn(count)} ${plural(count, 'remplit', 'remplissent')} ces conditions maintenant.`,
    set: 'Geler',
    change: 'Modifier le gel…',
    replace: 'Remplacer le gel',
    done: 'Gelé.',
    lift: 'Lever le gel',
    liftAsk:
      'Dès lors, les campagnes reprennent où elles en étaient, et pousser n’exige plus de briser la glace.',
    lifted: 'Le gel est levé.',
    needs: 'Il faut une raison et une heure à venir.',
  },
})

/** What is frozen, by the conditions of a freeze; the whole fleet without any. */
export const describeFrozen = (selector: unknown): string =>
  selector === undefined || selector === null
    ? say(freezeTexts).all
    : selectorLines(selector as Selector).join(' · ')
