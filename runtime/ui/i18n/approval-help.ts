import { defineTexts } from './define.ts'
import { formatExact, formatNumber } from './format.ts'

/** Texts about who keeps an approval from counting, and who could approve instead. */
export const helpTexts = defineTexts({
  en: {
    gone: 'an account that is gone',
    self: 'You yourself count as its author.',
    selfElsewhere: 'You asked for the same text elsewhere, or earlier, and count as its author.',
    asked: (who: string) => `${who} asked for it.`,
    askedElsewhere: (who: string) =>
      `${who} asked for the same text elsewhere, or earlier, and counts as its author.`,
    changedYours: (who: string, at: string) => `${who} made or changed your account (${formatExact(at)}).`,
    changedByYou: (who: string, at: string) =>
      `You made or changed the account of ${who} (${formatExact(at)}).`,
    there: 'See that request.',
    cannot: 'You cannot approve it:',
    could: 'Could approve instead:',
    couldToo: 'Can approve:',
    more: (count: number) => `and ${formatNumber(count)} more`,
    nobody: 'Nobody can approve it as things stand.',
    wayOut:
      'An account does not count that one of its authors made or changed, or anybody since the request. Let another administrator make an account that may approve, and then ask for the change again; let somebody else ask for it in words of their own, as the same text keeps its authors; or have the approval policy ask less, which takes effect after a day or at once with another administrator.',
  },
  fr: {
    gone: 'un compte qui n’existe plus',
    self: 'Vous comptez vous-même comme son auteur.',
    selfElsewhere: 'Vous avez demandé le même texte ailleurs, ou plus tôt, et comptez comme son auteur.',
    asked: (who: string) => `${who} l’a demandé.`,
    askedElsewhere: (who: string) =>
      `${who} a demandé le même texte ailleurs, ou plus tôt, et compte comme son auteur.`,
    changedYours: (who: string, at: string) => `${who} a créé ou modifié votre compte (${formatExact(at)}).`,
    changedByYou: (who: string, at: string) =>
      `Vous avez créé ou modifié le compte de ${who} (${formatExact(at)}).`,
    there: 'Voir cette demande.',
    cannot: 'Vous ne pouvez pas l’approuver :',
    could: 'Pourraient approuver à votre place :',
    couldToo: 'Peuvent approuver :',
    more: (count: number) => `et ${formatNumber(count)} de plus`,
    nobody: 'Personne ne peut l’approuver en l’état.',
    wayOut:
      'Un compte ne compte pas si un de ses auteurs l’a créé ou modifié, ou quiconque depuis la demande. Faites créer par un autre administrateur un compte qui a le droit d’approuver, puis redemandez la modification ; faites-la demander par quelqu’un d’autre, autrement écrite, car le même texte garde ses auteurs ; ou assouplissez la règle d’approbation, ce qui prend effet après un jour, ou tout de suite avec un autre administrateur.',
  },
})
