import type { Discount } from '../../../lib/wire/values.ts'
import { defineTexts, plural, say } from './define.ts'
import { formatNumber } from './format.ts'

const MAY_BE_ONE_EN =
  'so both may be one person: somebody has to approve whose account neither of you made (two accounts that a third person made count for each other), or who signs in with the identity provider; or the policy asks less'
const MAY_BE_ONE_FR =
  'ce pourrait être la même personne : il faut l’approbation de quelqu’un dont aucun de vous n’a créé le compte (deux comptes créés par une troisième personne comptent l’un pour l’autre), ou qui passe par le fournisseur d’identité ; ou une règle plus souple'

/** Why somebody's approval of a change, or look at what was done without one, would not count. */
export const discountTexts = defineTexts({
  en: {
    approved_already: 'you have approved it already',
    author: 'you asked for it, wrote it or did it',
    expired: 'the approval is too old',
    no_right: 'you may not approve',
    overtaken: 'something else was pushed to the workload since',
    same_person:
      'your account has the e-mail of one of its authors, or of somebody who has approved it, so both are taken for one person, also when one of the two is removed: somebody else has to approve it',
    shaped_an_author: `you made or changed the account of {who}, ${MAY_BE_ONE_EN}`,
    shaped_by_author: `your account was made or changed by {who}, ${MAY_BE_ONE_EN}`,
    shaped_since_request:
      'your account was made or changed after that; a request that is withdrawn and made again can be approved by you',
    value_author:
      'you set a value that reaches one of its workloads, or a trusted label or label rule that chooses one, so part of what is pushed was written by you',
  } satisfies Record<Discount, string>,
  fr: {
    approved_already: 'vous l’avez déjà approuvé',
    author: 'vous l’avez demandé, écrit ou fait',
    expired: 'l’approbation est trop ancienne',
    no_right: 'vous ne pouvez pas approuver',
    overtaken: 'autre chose a été envoyé au workload depuis',
    same_person:
      'votre compte a la même adresse qu’un de ses auteurs, ou que quelqu’un qui l’a déjà approuvé : ils sont pris pour une seule personne, même si l’un des deux est supprimé ; quelqu’un d’autre doit l’approuver',
    shaped_an_author: `vous avez créé ou modifié le compte de {who}, ${MAY_BE_ONE_FR}`,
    shaped_by_author: `votre compte a été créé ou modifié par {who}, ${MAY_BE_ONE_FR}`,
    shaped_since_request:
      'votre compte a été créé ou modifié depuis ; une demande retirée puis refaite peut être approuvée par vous',
    value_author:
      'vous avez fixé une valeur qui atteint l’un de ses workloads, ou une étiquette de confiance ou une règle d’étiquettes qui en choisit une : une partie de ce qui est envoyé est de vous',
  },
})

/** Texts of how far a change is approved. */
export const tallyTexts = defineTexts({
  en: {
    count: (given: number, needed: number) => `Approvals: ${formatNumber(given)} of ${formatNumber(needed)}.`,
    anAuthor: 'one of its authors',
    discounted: (count: number) =>
      `${formatNumber(count)} more ${plural(count, 'was', 'were')} given and ${plural(count, 'does', 'do')} not count.`,
    ownCounts: 'You can approve it.',
    ownCountsAsAuthor: 'You asked for it: you can approve it, and that is noted as by its own author.',
    ownGiven: 'You have approved it.',
    ownNot: (why: string) => `You cannot approve it: ${why}.`,
    ownBeside: 'You cannot approve it; the page says why.',
  },
  fr: {
    count: (given: number, needed: number) =>
      `Approbations : ${formatNumber(given)} sur ${formatNumber(needed)}.`,
    anAuthor: 'l’un de ses auteurs',
    discounted: (count: number) =>
      `${formatNumber(count)} de plus ${plural(count, 'ne compte', 'ne comptent')} pas.`,
    ownCounts: 'Vous pouvez l’approuver.',
    ownCountsAsAuthor:
      'Vous l’avez demandé : vous pouvez l’approuver, et il est noté que c’est par son auteur.',
    ownGiven: 'Vous l’avez approuvé.',
    ownNot: (why: string) => `Vous ne pouvez pas l’approuver : ${why}.`,
    ownBeside: 'Vous ne pouvez pas l’approuver ; la page dit pourquoi.',
  },
})

/**
 * A reason in the reader's words, with the author by name whose account it is about, where that is known; a code that is
 * not listed, such as `0_of_1`, with blanks for underscores.
 */
export const describeDiscount = (reason: string, who?: string): string =>
  (say(discountTexts)[reason as Discount] ?? reason.replaceAll('_', ' ')).replace(
    '{who}',
    () => who ?? say(tallyTexts).anAuthor,
  )
