import { defineTexts, plural } from './define.ts'
import { formatNumber } from './format.ts'

const n = formatNumber
const workloadsEn = (count: number) => `${n(count)} ${plural(count, 'workload', 'workloads')}`
const workloadsFr = (count: number) => `${n(count)} ${plural(count, 'workload', 'workloads')}`

/** Texts of the page that brings unmanaged workloads under a fleet config. */
export const adoptTexts = defineTexts({
  en: {
    title: 'Adopt',
    open: 'Adopt…',
    lead: 'Workloads that run no config from here, as muster never pushed to them or only what failed, by what they report to run. What they report is resolved and masked, so it is never pushed back: give the text that it was made of, and a campaign takes them over.',
    none: 'Every collector that takes configs has got one from here.',
    group: 'Reported config',
    unlike: 'nothing, or not all of its instances the same',
    workloads: 'Workloads',
    instances: 'Instances',
    names: 'Among them',
    choose: 'Take over…',
    chosen: (count: number, restarts: number) =>
      `${workloadsEn(count)}: ${n(restarts)} ${plural(restarts, 'instance takes the text and restarts', 'instances take the text and restart')}.`,
    noWayBack:
      'There is nothing to go back to: muster has no earlier config of theirs. Where one fails, it keeps what it can of the new one until another is pushed.',
    text: 'The text that it is made of',
    compare: 'Compare',
    stale: 'Compare the text with what they report first.',
    matches: 'What they report holds everything that this text asks for.',
    differs: (count: number) =>
      `What they report differs from this text at ${n(count)} ${plural(count, 'place', 'places')}: taking them over changes what they run.`,
    unknown: 'Whether they run this text cannot be told.',
    cannot: 'They report nothing that a text could be compared with.',
    name: 'Name of the campaign',
    make: 'Make the campaign',
    needsName: 'A name is needed.',
    needsText: 'The text is needed.',
    description: 'They were adopted as they run.',
  },
  fr: {
    title: 'Adopter',
    open: 'Adopter…',
    lead: 'Les workloads qui n’exécutent aucune config d’ici, muster n’y ayant rien poussé ou seulement ce qui a échoué, selon ce qu’ils disent exécuter. Ce qu’ils disent est résolu et masqué, on ne le leur renvoie donc jamais : donnez le texte d’origine, et une campagne les reprend.',
    none: 'Chaque collecteur qui prend des configs en a reçu une d’ici.',
    group: 'Config rapportée',
    unlike: 'rien, ou pas la même pour toutes les instances',
    workloads: 'Workloads',
    instances: 'Instances',
    names: 'Parmi eux',
    choose: 'Reprendre…',
    chosen: (count: number, restarts: number) =>
      `${workloadsFr(count)} : ${n(restarts)} ${plural(restarts, 'instance prend le texte et redémarre', 'instances prennent le texte et redémarrent')}.`,
    noWayBack:
      'Il n’y a rien vers quoi revenir : muster n’a aucune config antérieure d’eux. Si l’un échoue, il garde ce qu’il peut de la nouvelle jusqu’à ce qu’on en pousse une autre.',
    text: 'Le texte d’origine',
    compare: 'Comparer',
    stale: 'Comparez d’abord le texte avec ce qu’ils rapportent.',
    matches: 'Ce qu’ils rapportent contient tout ce que ce texte demande.',
    differs: (count: number) =>
      `Ce qu’ils rapportent diffère de ce texte à ${n(count)} ${plural(count, 'endroit', 'endroits')} : les reprendre change ce qu’ils exécutent.`,
    unknown: 'On ne peut dire s’ils exécutent ce texte.',
    cannot: 'Ils ne rapportent rien à quoi comparer un texte.',
    name: 'Nom de la campagne',
    make: 'Créer la campagne',
    needsName: 'Il faut un nom.',
    needsText: 'Il faut le texte.',
    description: 'Adoptés tels qu’ils tournent.',
  },
})
