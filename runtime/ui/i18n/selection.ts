import { defineTexts, plural } from './define.ts'
import { formatNumber } from './format.ts'

const n = formatNumber
const workloadsEn = (count: number) => `${n(count)} ${plural(count, 'workload', 'workloads')}`
const workloadsFr = (count: number) => `${n(count)} ${plural(count, 'workload', 'workloads')}`

/** Texts about workloads that are ticked, and what can be done with them. */
export const selectionTexts = defineTexts({
  en: {
    bar: 'What to do with the selected workloads',
    selected: (count: number, hidden: number) =>
      hidden === 0 ? `${n(count)} selected` : `${n(count)} selected, ${n(hidden)} of them not shown`,
    all: (count: number) => `Select all ${n(count)}`,
    clear: 'Clear',
    change: 'Change these…',
    labels: 'Set labels…',
    hold: 'Hold…',
    holdThem: 'Hold',
    release: 'Release',
    tooMany: (max: number) => `A campaign names ${n(max)} workloads at most: give it a condition instead.`,
    labelsTitle: (count: number) => `Set labels on ${workloadsEn(count)}`,
    labelsText: 'Labels, one a line as key=value',
    labelsHint:
      'They are set beside those that the workloads have, and take the place of those of the same key.',
    labelsWould: (count: number, of: number) => `Changes ${n(count)} of ${workloadsEn(of)}.`,
    labelsNeeded: 'At least one label is needed.',
    badLine: (line: string) => `“${line}” is no key=value.`,
    set: 'Set',
    labelsDone: (count: number) => `Labels set on ${workloadsEn(count)}.`,
    holdTitle: (count: number) => `Hold ${workloadsEn(count)}`,
    holdLead: 'Campaigns leave them alone until somebody releases them. What they run stays.',
    reason: 'Why',
    until: 'Until',
    untilHint: 'Seven days where it is empty. After that they are listed as overdue, and still held.',
    holdNeeds: 'A reason is needed, and a time that is still to come.',
    held: (count: number) => `${workloadsEn(count)} held.`,
    releaseTitle: (count: number) => `Release ${workloadsEn(count)}`,
    releaseLead: 'Campaigns may have them again. Nothing is pushed by it; who is not held stays as he is.',
    released: (count: number) => `${workloadsEn(count)} released.`,
    progress: (done: number, of: number) => `${n(done)} of ${n(of)} done.`,
    stopped: (done: number, of: number) => `Stopped after ${n(done)} of ${workloadsEn(of)}.`,
    unknown:
      'The workloads that were chosen for this are not known to this tab any more. Choose them in the fleet again.',
  },
  fr: {
    bar: 'Que faire des workloads sélectionnés',
    selected: (count: number, hidden: number) => {
      const all = `${n(count)} ${plural(count, 'sélectionné', 'sélectionnés')}`
      return hidden === 0 ? all : `${all}, dont ${n(hidden)} hors de vue`
    },
    all: (count: number) => `Sélectionner les ${n(count)}`,
    clear: 'Effacer',
    change: 'Les changer…',
    labels: 'Étiqueter…',
    hold: 'Retenir…',
    holdThem: 'Retenir',
    release: 'Relâcher',
    tooMany: (max: number) =>
      `Une campagne nomme ${n(max)} workloads au plus : donnez-lui plutôt une condition.`,
    labelsTitle: (count: number) => `Étiqueter ${workloadsFr(count)}`,
    labelsText: 'Étiquettes, une par ligne : clé=valeur',
    labelsHint: 'Elles s’ajoutent à celles des workloads et remplacent celles de même clé.',
    labelsWould: (count: number, of: number) => `Change ${n(count)} sur ${workloadsFr(of)}.`,
    labelsNeeded: 'Il faut au moins une étiquette.',
    badLine: (line: string) => `« ${line} » n’est pas de la forme clé=valeur.`,
    set: 'Poser',
    labelsDone: (count: number) => `Étiquettes posées sur ${workloadsFr(count)}.`,
    holdTitle: (count: number) => `Retenir ${workloadsFr(count)}`,
    holdLead:
      'Les campagnes les laissent tranquilles jusqu’à ce que quelqu’un les relâche. Ce qu’ils exécutent reste.',
    reason: 'Pourquoi',
    until: 'Jusqu’au',
    untilHint: 'Sept jours si c’est vide. Ensuite ils sont signalés comme échus, et toujours retenus.',
    holdNeeds: 'Il faut une raison, et une heure à venir.',
    held: (count: number) => `${workloadsFr(count)} ${plural(count, 'retenu', 'retenus')}.`,
    releaseTitle: (count: number) => `Relâcher ${workloadsFr(count)}`,
    releaseLead:
      'Les campagnes peuvent les reprendre. Rien n’est poussé ; qui n’est pas retenu reste comme il est.',
    released: (count: number) => `${workloadsFr(count)} ${plural(count, 'relâché', 'relâchés')}.`,
    progress: (done: number, of: number) => `${n(done)} sur ${n(of)}.`,
    stopped: (done: number, of: number) => `Arrêté après ${n(done)} sur ${workloadsFr(of)}.`,
    unknown:
      'Les workloads choisis pour cela ne sont plus connus de cet onglet. Choisissez-les à nouveau dans le parc.',
  },
})
