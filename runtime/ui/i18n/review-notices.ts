import { defineTexts, plural } from './define.ts'
import { formatNumber } from './format.ts'

const n = formatNumber

/** What is told before anything else of a change: that its config failed here before, and that a freeze holds. */
export const reviewNoticeTexts = defineTexts({
  en: {
    failed: (failed: number, total: number, ago: string) =>
      failed > 0
        ? `This exact config failed here on ${n(failed)} of ${n(total)} ${plural(total, 'instance', 'instances')} (${ago}).`
        : `This exact config failed here (${ago}).`,
    takenBack: (ago: string) => `This exact config was rolled back here (${ago}).`,
    unhealthy: (count: number, total: number) =>
      `At worst ${n(count)} of ${n(total)} ${plural(total, 'instance was', 'instances were')} unhealthy with it.`,
    saidSince: (who: string) => `After it was approved, ${who} said:`,
    see: 'See that push',
    isKnown: 'I know that it failed here, and ask for it again as it is.',
    mustKnow: 'It failed here: correct it, or tick that you know.',
    lastFailed: (hash: string, failed: number, total: number, ago: string) =>
      failed > 0
        ? `The last change (${hash}) failed on ${n(failed)} of ${n(total)} ${plural(total, 'instance', 'instances')} (${ago}).`
        : `The last change (${hash}) failed (${ago}).`,
    brokenNow: (count: number, total: number, why: string) =>
      `${n(count)} of ${n(total)} ${plural(total, 'instance', 'instances')} unhealthy now${why && `: ${why}`}.`,
    changes: (names: string) => `This changes ${names}.`,
    leaves: (names: string) => `This leaves ${names} as it is.`,
    hasStill: (what: string) => `This config has that too: ${what}.`,
    hasNoMore: (what: string) => `This config does not have it: ${what}.`,
    takesPlace: (title: string, who: string, ago: string) =>
      `This takes the place of “${title}” by ${who} (${ago}), which waits for approval: nobody can approve or push that one then.`,
    takesPlaceOfOwn: (title: string, ago: string) =>
      `This takes the place of your own “${title}” (${ago}), which waits for approval.`,
    approvedBeside: (title: string, who: string, ago: string) =>
      `“${title}” by ${who} is approved here as well (${ago}) and waits to be pushed. The older of the two ends once the newer is pushed, or approved for the same group; pushed before that, it is overwritten.`,
    seeWaiting: 'See that request',
    startFrom: 'Start from its text',
    frozen: (until: string, why: string) => `Frozen until ${until} (${why}).`,
    askedNow: 'A change can be requested and approved now, and pushed after that or by breaking the glass.',
    approvedNow: 'It can be approved now, and pushed after that or by breaking the glass.',
    pushedLater: 'It is approved, and can be pushed after that or by breaking the glass.',
  },
  fr: {
    failed: (failed: number, total: number, ago: string) =>
      failed > 0
        ? `Cette config même a échoué ici sur ${n(failed)} ${plural(failed, 'instance', 'instances')} sur ${n(total)} (${ago}).`
        : `Cette config même a échoué ici (${ago}).`,
    takenBack: (ago: string) => `On est revenu en arrière ici après cette config même (${ago}).`,
    unhealthy: (count: number, total: number) =>
      `Au pire, ${n(count)} ${plural(count, 'instance', 'instances')} sur ${n(total)} en mauvaise santé avec elle.`,
    saidSince: (who: string) => `Après l’approbation, ${who} a dit :`,
    see: 'Voir cette poussée',
    isKnown: 'Je sais qu’elle a échoué ici, et je la redemande telle quelle.',
    mustKnow: 'Elle a échoué ici : corrigez-la, ou cochez que vous le savez.',
    lastFailed: (hash: string, failed: number, total: number, ago: string) =>
      failed > 0
        ? `Le dernier changement (${hash}) a échoué sur ${n(failed)} ${plural(failed, 'instance', 'instances')} sur ${n(total)} (${ago}).`
        : `Le dernier changement (${hash}) a échoué (${ago}).`,
    brokenNow: (count: number, total: number, why: string) =>
      `${n(count)} ${plural(count, 'instance', 'instances')} sur ${n(total)} en défaut maintenant${why && ` : ${why}`}.`,
    changes: (names: string) => `Ceci change ${names}.`,
    leaves: (names: string) => `Ceci laisse ${names} en l’état.`,
    hasStill: (what: string) => `Cette config l’a aussi : ${what}.`,
    hasNoMore: (what: string) => `Cette config ne l’a pas : ${what}.`,
    takesPlace: (title: string, who: string, ago: string) =>
      `Ceci prend la place de « ${title} » de ${who} (${ago}), qui attend une approbation : personne ne pourra plus l’approuver ni la pousser.`,
    takesPlaceOfOwn: (title: string, ago: string) =>
      `Ceci prend la place de votre propre « ${title} » (${ago}), qui attend une approbation.`,
    approvedBeside: (title: string, who: string, ago: string) =>
      `« ${title} » de ${who} est approuvée ici aussi (${ago}) et attend d’être poussée. La plus ancienne des deux prend fin dès que l’autre est poussée, ou approuvée pour le même groupe ; poussée avant, elle est écrasée.`,
    seeWaiting: 'Voir cette demande',
    startFrom: 'Partir de son texte',
    frozen: (until: string, why: string) => `Gelé jusqu’au ${until} (${why}).`,
    askedNow:
      'Un changement peut être demandé et approuvé maintenant, et poussé ensuite ou par bris de glace.',
    approvedNow: 'Elle peut être approuvée maintenant, et poussée ensuite ou par bris de glace.',
    pushedLater: 'Elle est approuvée, et peut être poussée ensuite ou par bris de glace.',
  },
})
