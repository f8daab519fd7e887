import { REQUEST_IDLE_DAYS } from '../../../lib/model/lifetimes.ts'
import { APPROVAL_CLASSES } from '../../../lib/wire/values.ts'
import { defineTexts, say } from './define.ts'
import { formatNumber } from './format.ts'

type ApprovalClass = (typeof APPROVAL_CLASSES)[number]
interface Places {
  class: Readonly<Record<ApprovalClass, string>>
  where: Readonly<Record<ApprovalClass, string>>
}

/** Classes by name, each with what belongs to it. */
const listPlaces = (
  { class: names, where }: Places,
  classes: readonly ApprovalClass[],
  between: string,
): string =>
  classes
    .map((one) => {
      const about = where[one].replace(/\.$/, '')
      return `${names[one]} (${about.charAt(0).toLowerCase()}${about.slice(1)})`
    })
    .join(between)

/** Texts of the approval policy in the settings. */
export const policyTexts = defineTexts({
  en: {
    lead: 'What a change takes before it may be pushed. Whoever approved is counted again at the push.',
    another:
      'Where somebody else than the author has to approve, as in production unless the policy says otherwise, two accounts count as two people only where neither made the other:',
    anotherNot:
      'An account that you make, reset, link or put into a group does not count for what you ask for, nor do you for what it asks for. Had you made the account of an Olga, for example, neither of you could approve what the other asks for.',
    anotherCounts:
      'Two such accounts count for each other, and so does whoever signs in with the identity provider and has the groups from there. Had you made those of an Olga and a Pavel, for example, Pavel could approve what Olga asks for.',
    class: {
      production: 'Production',
      other: 'Another environment',
      unlabelled: 'No environment',
    },
    where: {
      production: 'Wherever the request, the agents or a trusted label say production.',
      other: 'Where a trusted label names another environment.',
      unlabelled: 'Where no trusted label names one: it may be production.',
    },
    approvals: 'Approvals',
    one: 'one',
    two: 'two',
    author: 'Whoever requested or wrote it counts',
    hours: 'Valid for, in hours',
    hoursHint: `Empty: of any age, until the request ends, ${REQUEST_IDLE_DAYS} days after its last change.`,
    save: 'Change the policy',
    saved: 'This is the policy now.',
    unreadable: (where: string) =>
      `The stored policy cannot be read (at ${where}), so the strictest is in force. Say what it is to be, and save it: a second person confirms it, or a day passes.`,
    waits: (who: string) => `${who} asked for a policy that asks less.`,
    waitsUntil: (when: string) =>
      `It counts once another administrator confirms it, or by itself at ${when}. Saving today’s policy again takes it back.`,
    confirm: 'Confirm it',
    notYours:
      'Another person must confirm it: whoever asked made or changed your account, or you theirs, or yours was changed since.',
    ruleChanges: (what: string, from: string, to: string) => `${what}: ${from} → ${to}`,
    count: (approvals: number): string => (approvals === 1 ? 'one approval' : 'two approvals'),
    valid: (hours: number | null): string =>
      hours === null ? 'of any age' : `valid for ${formatNumber(hours)} h`,
    authorMay: 'the author counts',
    authorMayNot: 'the author does not count',
    waiting: 'It asks less: another administrator has to confirm it, or a day has to pass.',
    sole: 'Only one person may approve now, so the author counts everywhere and each such approval says so. That ends for good, everywhere, with the second account that may, be it of the same person or within a scope only.',
    endsSole:
      'Only one person may approve today, so the author counts. With this group two may: that ends for good, everywhere, even if the account is removed again.',
    endsSoleAt: (classes: readonly ApprovalClass[]): string =>
      `From then on neither of you can approve what you or the other one asks for, so nothing can be approved in: ${listPlaces(policyTexts.en, classes, '; ')}.`,
    endsSoleNext:
      'Whoever makes or regroups this account does not count for what it asks for, nor it for what they ask for: plan a third account, have somebody else sign in with the identity provider, or let the author count in the approval policy first.',
    noSecond:
      'Nobody counts for anybody else yet: whoever may approve made or changed the accounts of the others, or has them himself. Where somebody else than the author has to approve, as in production, nothing can be approved so.',
    noSecondNext:
      'What ends it: make another account that may approve, since two that one person made count for each other; or have somebody else sign in with the identity provider; or let the author count in the approval policy.',
    badHours: 'Whole hours, from 1 to 8,760.',
  },
  fr: {
    lead: 'Ce qu’il faut pour pousser un changement. Les approbations sont recomptées à la poussée.',
    another:
      'Là où quelqu’un d’autre que l’auteur doit approuver, comme en production sauf règle contraire, deux comptes ne valent deux personnes que si aucun n’a créé l’autre :',
    anotherNot:
      'Un compte que vous créez, réinitialisez, liez ou mettez dans un groupe ne compte pas pour ce que vous demandez, ni vous pour ce qu’il demande. Si vous aviez créé le compte d’une Olga, par exemple, aucun de vous ne pourrait approuver ce que l’autre demande.',
    anotherCounts:
      'Deux comptes ainsi créés comptent l’un pour l’autre ; de même qui se connecte par le fournisseur d’identité et en tient ses groupes. Si vous aviez créé ceux d’une Olga et d’un Pavel, par exemple, Pavel pourrait approuver ce qu’Olga demande.',
    class: {
      production: 'Production',
      other: 'Un autre environnement',
      unlabelled: 'Aucun environnement',
    },
    where: {
      production: 'Là où la demande, les agents ou une étiquette de confiance disent production.',
      other: 'Là où une étiquette de confiance en nomme un autre.',
      unlabelled: 'Là où aucune étiquette de confiance n’en nomme : ce peut être la production.',
    },
    approvals: 'Approbations',
    one: 'une',
    two: 'deux',
    author: 'Celle de qui l’a demandé ou écrit compte',
    hours: 'Valable, en heures',
    hoursHint: `Vide : sans limite, jusqu’à la fin de la demande, ${REQUEST_IDLE_DAYS} jours après son dernier changement.`,
    save: 'Changer la règle',
    saved: 'C’est la règle désormais.',
    unreadable: (where: string) =>
      `La règle enregistrée est illisible (à ${where}) : la plus stricte est en vigueur. Indiquez ce qu’elle doit être et enregistrez : une deuxième personne la confirme, ou un jour passe.`,
    waits: (who: string) => `${who} a demandé une règle plus souple.`,
    waitsUntil: (when: string) =>
      `Elle vaudra quand un autre administrateur la confirme, ou d’elle-même à ${when}. Enregistrer de nouveau la règle d’aujourd’hui la retire.`,
    confirm: 'La confirmer',
    notYours:
      'Une autre personne doit la confirmer : qui l’a demandée a créé ou modifié votre compte, ou vous le sien, ou le vôtre a changé depuis.',
    ruleChanges: (what: string, from: string, to: string) => `${what} : ${from} → ${to}`,
    count: (approvals: number): string => (approvals === 1 ? 'une approbation' : 'deux approbations'),
    valid: (hours: number | null): string =>
      hours === null ? 'sans limite d’âge' : `valable ${formatNumber(hours)} h`,
    authorMay: 'l’auteur compte',
    authorMayNot: 'l’auteur ne compte pas',
    waiting: 'Elle est plus souple : un autre administrateur doit la confirmer, ou un jour passer.',
    sole: 'Une seule personne peut approuver : l’auteur compte donc partout, et chaque approbation le dit. Cela cesse partout et pour toujours avec le deuxième compte qui le peut, fût-il de la même personne ou dans un seul périmètre.',
    endsSole:
      'Une seule personne peut approuver aujourd’hui, donc l’auteur compte. Avec ce groupe, deux le peuvent : cela prend fin pour de bon, partout, même si le compte est supprimé ensuite.',
    endsSoleAt: (classes: readonly ApprovalClass[]): string =>
      `Dès lors aucun de vous deux ne peut approuver ce que vous ou l’autre demandez, et rien ne peut être approuvé ici : ${listPlaces(policyTexts.fr, classes, ' ; ')}.`,
    endsSoleNext:
      'Qui crée ou regroupe ce compte ne compte pas pour ce qu’il demande, ni lui pour ce que cette personne demande : prévoyez un troisième compte, la connexion d’une autre personne par le fournisseur d’identité, ou laissez d’abord l’auteur compter dans la règle d’approbation.',
    noSecond:
      'Personne ne compte encore pour un autre : qui peut approuver a créé ou modifié le compte des autres, ou les possède lui-même. Là où quelqu’un d’autre que l’auteur doit approuver, comme en production, rien ne peut l’être.',
    noSecondNext:
      'Ce qui y met fin : créer un autre compte qui puisse approuver, deux comptes créés par une même personne comptant l’un pour l’autre ; faire passer une autre personne par le fournisseur d’identité ; ou laisser compter l’auteur dans la règle d’approbation.',
    badHours: 'Des heures entières, de 1 à 8 760.',
  },
})

/** What a rule asks for, in words. */
export function describePolicyRule({
  approvals,
  author_counts,
  valid_hours,
}: {
  approvals: number
  author_counts: boolean
  valid_hours?: number | null | undefined
}): string {
  const words = say(policyTexts)
  return [
    words.count(approvals),
    words.valid(valid_hours ?? null),
    author_counts ? words.authorMay : words.authorMayNot,
  ].join(', ')
}

/** A whole policy as the audit log keeps it, in words; null for what is none. */
export function describeKeptPolicy(kept: Readonly<Record<string, unknown>>): string | null {
  const words = say(policyTexts)
  const rules = APPROVAL_CLASSES.map((name) => {
    const { approvals, authorCounts, validHours } = (kept[name] ?? {}) as Record<string, unknown>
    if (typeof approvals !== 'number' || typeof authorCounts !== 'boolean') return null
    const hours = typeof validHours === 'number' ? validHours : null
    const rule = describePolicyRule({ approvals, author_counts: authorCounts, valid_hours: hours })
    return `${words.class[name]}: ${rule}`
  })
  return rules.includes(null) ? null : `${rules.join('. ')}.`
}
