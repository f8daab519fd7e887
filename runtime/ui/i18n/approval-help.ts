import { defineTexts } from './define.ts'
import { formatDay, formatNumber } from './format.ts'

/** Texts about who keeps an approval from counting, who could approve instead, and what ends it where nobody could. */
export const helpTexts = defineTexts({
  en: {
    gone: 'an account that is gone',
    self: 'you count as its author',
    selfElsewhere: (when: string) =>
      `you asked for the same text elsewhere, or earlier${when}, and count as its author`,
    selfOfText: 'you wrote its text, or asked for that before, and count as its author',
    asked: (who: string) => `${who} asked for it`,
    ofText: (who: string) => `${who} wrote its text, or asked for that before`,
    askedElsewhere: (who: string, when: string) =>
      `${who} asked for the same text elsewhere, or earlier${when}`,
    askedOn: (at: string, isWithdrawn: boolean) =>
      ` (${formatDay(at)}${isWithdrawn ? ', and withdrew it' : ''})`,
    askedBefore: (when: string) => `asked for the same text before${when}`,
    whoAskedBefore: (when: string) => `, who asked for the same text before${when}`,
    andChangedYours: (at: string) => `, and made or changed your account (${formatDay(at)})`,
    andChangedByYou: (at: string) => `, and you made or changed that account (${formatDay(at)})`,
    changedSince: (who: string, at: string) => `${who} made or changed your account since (${formatDay(at)})`,
    cameSince: (at: string) =>
      `your account came after the request, with its first sign-in by the identity provider (${formatDay(at)})`,
    regroupedSince: (at: string) =>
      `the identity provider changed the groups of your account after the request (${formatDay(at)})`,
    there: 'See that request.',
    cannot: (why: string) => `You cannot approve it: ${why}.`,
    could: 'Could approve instead:',
    couldToo: 'Can approve:',
    more: (count: number) => `and ${formatNumber(count)} more`,
    nobody: 'Nobody can approve it as things stand.',
    nobodyIfYou: 'Nobody could approve it if you ask for it.',
    couldAsk: (who: string, could: string) => `${who}; then ${could} could approve it`,
    couldThen: 'If you ask for it, these could approve it:',
    insteadAsks: 'These could ask for it instead:',
    rewordedAsks:
      'The same text keeps its authors. These could ask for it in other words, for which a line of comment is enough:',
    nobodyFor: (why: string) => `Nobody can approve it: ${why}, and no other account counts.`,
    nobodyBut: (why: string) => `Nobody can approve it: ${why}.`,
    others: 'These may approve, and do not count for it:',
    uncounted: (who: string, why: string) => `${who}: ${why}`,
    uncountedWhy: {
      shaped_by_author: 'made, reset, linked or regrouped by {by}',
      shaped_an_author: 'made, reset, linked or regrouped the account of {by}',
      shaped_since_request: 'came, or was changed, after it was asked for',
      author: 'asked for it, or wrote it',
      value_author: 'set a value that becomes part of it',
      same_person: 'taken for the same person as {by}',
      counts: 'would count, but more people have to approve it who count beside each other',
    } as Record<string, string>,
    you: 'you',
    another: 'somebody who counts already',
    anAuthor: 'one of its authors',
    waysOut: 'What ends it',
    way: {
      goBack: (hash: string) => `${hash} ran here before: going back to it needs no approval.`,
      again: 'It is withdrawn and asked for again: accounts that came or were changed meanwhile count then.',
      ask: 'Somebody else asks for it in words of their own: the same text keeps its authors.',
      account:
        'An administrator who has never asked for this text nor written it makes an account that may approve; then it is asked for again.',
      policy: 'The approval policy asks less: after a day, or at once with another administrator.',
    },
    go: {
      goBack: (hash: string) => `Roll back to ${hash}`,
      account: 'Users',
      policy: 'Approval policy',
    },
  },
  fr: {
    gone: 'un compte qui n’existe plus',
    self: 'vous comptez comme son auteur',
    selfElsewhere: (when: string) =>
      `vous avez demandé le même texte ailleurs, ou plus tôt${when}, et comptez comme son auteur`,
    selfOfText: 'vous avez écrit son texte, ou l’avez demandé avant, et comptez comme son auteur',
    asked: (who: string) => `${who} l’a demandé`,
    ofText: (who: string) => `${who} a écrit son texte, ou l’a demandé avant`,
    askedElsewhere: (who: string, when: string) =>
      `${who} a demandé le même texte ailleurs, ou plus tôt${when}`,
    askedOn: (at: string, isWithdrawn: boolean) =>
      ` (${formatDay(at)}${isWithdrawn ? ', puis l’a retiré' : ''})`,
    askedBefore: (when: string) => `a demandé le même texte avant${when}`,
    whoAskedBefore: (when: string) => `, qui a demandé le même texte avant${when}`,
    andChangedYours: (at: string) => `, et a créé ou modifié votre compte (${formatDay(at)})`,
    andChangedByYou: (at: string) => `, et vous avez créé ou modifié ce compte (${formatDay(at)})`,
    changedSince: (who: string, at: string) =>
      `${who} a créé ou modifié votre compte depuis (${formatDay(at)})`,
    cameSince: (at: string) =>
      `votre compte est arrivé après la demande, à sa première connexion par le fournisseur d’identité (${formatDay(at)})`,
    regroupedSince: (at: string) =>
      `le fournisseur d’identité a changé les groupes de votre compte après la demande (${formatDay(at)})`,
    there: 'Voir cette demande.',
    cannot: (why: string) => `Vous ne pouvez pas l’approuver : ${why}.`,
    could: 'Pourraient approuver à votre place :',
    couldToo: 'Peuvent approuver :',
    more: (count: number) => `et ${formatNumber(count)} de plus`,
    nobody: 'Personne ne peut l’approuver en l’état.',
    nobodyIfYou: 'Personne ne pourrait l’approuver si vous le demandez.',
    couldAsk: (who: string, could: string) => `${who} ; l’approbation de ${could} compterait alors`,
    couldThen: 'Si vous le demandez, pourraient l’approuver :',
    insteadAsks: 'Pourraient le demander à votre place :',
    rewordedAsks:
      'Le même texte garde ses auteurs. Pourraient le demander autrement écrit, une ligne de commentaire y suffit :',
    nobodyFor: (why: string) => `Personne ne peut l’approuver : ${why}, et aucun autre compte ne compte.`,
    nobodyBut: (why: string) => `Personne ne peut l’approuver : ${why}.`,
    others: 'Ont le droit d’approuver, et ne comptent pas ici :',
    uncounted: (who: string, why: string) => `${who} : ${why}`,
    uncountedWhy: {
      shaped_by_author: 'compte créé, réinitialisé, lié ou regroupé par {by}',
      shaped_an_author: 'a créé, réinitialisé, lié ou regroupé le compte de {by}',
      shaped_since_request: 'compte arrivé ou modifié après la demande',
      author: 'l’a demandé ou écrit',
      value_author: 'a fixé une valeur qui en fait partie',
      same_person: 'tenu pour la même personne que {by}',
      counts: 'compterait, mais il faut plus de personnes qui comptent l’une à côté de l’autre',
    },
    you: 'vous',
    another: 'quelqu’un qui compte déjà',
    anAuthor: 'l’un de ses auteurs',
    waysOut: 'Ce qui y met fin',
    way: {
      goBack: (hash: string) => `${hash} a déjà tourné ici : y revenir ne demande pas d’approbation.`,
      again: 'On la retire et on la redemande : les comptes arrivés ou modifiés entre-temps comptent alors.',
      ask: 'Quelqu’un d’autre la demande autrement écrite : le même texte garde ses auteurs.',
      account:
        'Un administrateur qui n’a jamais demandé ni écrit ce texte crée un compte qui a le droit d’approuver, puis on la redemande.',
      policy:
        'La règle d’approbation s’assouplit : après un jour, ou tout de suite avec un autre administrateur.',
    },
    go: {
      goBack: (hash: string) => `Revenir à ${hash}`,
      account: 'Utilisateurs',
      policy: 'Règle d’approbation',
    },
  },
})
