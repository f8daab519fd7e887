import { sayApprovalRule, sayRuleReason } from '../../../lib/model/approval-rule-words.ts'
import type { ApprovalRuleInForce } from '../../../lib/wire/approvals.ts'
import { defineTexts, plural, say } from './define.ts'
import { formatNumber } from './format.ts'

type Because = ApprovalRuleInForce['because'][number]

const n = formatNumber

/** Texts of the rule of the approval policy that a change of many workloads is approved by. The English is the service's own. */
const ruleTexts = defineTexts({
  en: {
    rule: (of: ApprovalRuleInForce) => `Rule: ${sayApprovalRule(of)}.`,
    because: (reasons: readonly Because[]) => `Why: ${reasons.map(sayRuleReason).join('; ')}.`,
  },
  fr: {
    rule: (of: ApprovalRuleInForce) => `Règle : ${ruleFr(of)}.`,
    because: (reasons: readonly Because[]) => `Pourquoi : ${reasons.map(reasonFr).join(' ; ')}.`,
  },
})

function ruleFr({
  approvals,
  author_counts: authorCounts,
  valid_hours: hours,
  sole_approver: isSole,
}: ApprovalRuleInForce): string {
  const count = approvals === 2 ? 'deux approbations' : 'une approbation'
  const whose = authorCounts
    ? ', celle de ses auteurs compte'
    : isSole
      ? ', celle de ses auteurs compte tant qu’une seule personne peut approuver'
      : ', pas d’un de ses auteurs'
  return `${count}${whose}${hours === undefined ? '' : `, valable ${n(hours)} h`}`
}

function reasonFr({ why, count = 0, like_production: isLike }: Because): string {
  const treated = isLike ? ' : traité comme la production' : ''
  switch (why) {
    case 'production':
      return `${n(count)} de ses workloads ${plural(count, 'est', 'sont')} en production`
    case 'may_reach_production':
      return 'de nouveaux venus qu’elle atteint d’elle-même peuvent être en production'
    case 'kept_production':
      return 'un de ses workloads était en production jusqu’à ce que ses étiquettes changent, ce que personne n’a encore confirmé'
    case 'unlabelled':
      return count > 0
        ? `aucune étiquette de confiance ne nomme l’environnement de ${n(count)} de ses workloads${treated}`
        : `il est demandé à tout changement de plusieurs workloads autant qu’à ceux sans environnement${treated}`
    case 'other':
      return 'la règle le demande à tout changement de plusieurs workloads'
    case 'given_before':
      return 'une approbation a été donnée sous une règle plus stricte'
    default:
      return why satisfies never
  }
}

/** Which rule a change would be approved by, in one sentence. */
export const describeRuleAlone = (approvals: number, authorCounts: boolean): string =>
  say(ruleTexts).rule({ approvals, author_counts: authorCounts, because: [] })

/** Which rule a change is approved by, and why, in two sentences. */
export function describeRule(of: ApprovalRuleInForce): string {
  const words = say(ruleTexts)
  return `${words.rule(of)} ${words.because(of.because)}`
}
