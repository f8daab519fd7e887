import { defineTexts } from './define.ts'

/** What is said where a config is kept in Git. */
export const gitTexts = defineTexts({
  en: {
    kept: (owner: string, commit: string, author: string) =>
      `The config is kept in Git by ${owner}${commit === '' ? '' : `, commit ${commit}`}${author === '' ? '' : ` by ${author}`}.`,
    changeThere: 'Change it there. From here it is rolled back, or changed without approval in an emergency.',
    standing: {
      same: '',
      under_way: 'What Git asks for is on its way there.',
      differs: 'What is active is not what Git asks for.',
    },
    wished: (owner: string, commit: string, author: string) =>
      `Git (${owner}) asks for a config here${commit === '' ? '' : `, commit ${commit}`}${author === '' ? '' : ` by ${author}`}, accepted by nobody yet: it keeps nobody from changing it here.`,
    wishedMore: (count: number) =>
      count === 1 ? 'One more owner in Git asks for one.' : `${count} more owners in Git ask for one.`,
    letGo: 'Let go…',
    letGoNow: 'Let go',
    letGoLead: (owner: string) =>
      `What ${owner} asked for here is withdrawn, and what runs stays. The next run of its pipeline asks again, unless its folder holds the workload no longer.`,
    gone: 'Git asks for nothing there any more.',
    emergency: 'This is an emergency: I will push it without approval',
    mustBeEmergency: 'The config is kept in Git: change it there.',
    fleetKept: (owner: string, commit: string, author: string) =>
      `This fleet config is kept in Git by ${owner}${commit === '' ? '' : `, commit ${commit}`}${author === '' ? '' : ` by ${author}`}.`,
    fleetVersion: (number: number) => `Git asks for version ${number}.`,
    fleetOther: (number: number) => `Git asks for version ${number}: only that one is carried from here.`,
    keptByFleet: (fleetConfig: string, owner: string, commit: string, author: string) =>
      `Its fleet config ${fleetConfig} is kept in Git by ${owner}${commit === '' ? '' : `, commit ${commit}`}${author === '' ? '' : ` by ${author}`}.`,
    fleetChangeThere:
      'It is changed there. From here, that version is carried to workloads and campaigns are rolled back.',
    fleetReadOnly: 'The fleet config is kept in Git: change it there.',
    unknownAuthors: (names: string) =>
      `The commit names ${names}, and nobody here is called so: whoever that is would count as a second person. Approve it only if you had no part in it.`,
    notApproved: 'The config is kept in Git: a request from here is not approved.',
    handOver: 'Hand over…',
    handOverNow: 'Hand over',
    handOverLead:
      'From then on the pipeline of another account speaks for it, or it goes by another name. What was decided stays decided: what waits goes on waiting, and what is held stays so.',
    what: 'What',
    onlyThis: 'This one only',
    allOf: (owner: string) => `Everything that ${owner} keeps`,
    toOwner: 'Owner from then on',
    account: 'Account that speaks for it',
    accountHint: 'An e-mail, or service: and the name of a service account, such as service:platform-ci.',
    choose: 'Choose an account',
    mustChoose: 'Say which account speaks for it.',
    handedOver: 'Handed over.',
  },
  fr: {
    kept: (owner: string, commit: string, author: string) =>
      `La configuration est tenue dans Git par ${owner}${commit === '' ? '' : `, commit ${commit}`}${author === '' ? '' : ` de ${author}`}.`,
    changeThere:
      'Modifiez-la là-bas. D’ici, on revient en arrière, ou on la modifie sans approbation en urgence.',
    standing: {
      same: '',
      under_way: 'Ce que Git demande est en route.',
      differs: 'Ce qui est actif n’est pas ce que Git demande.',
    },
    wished: (owner: string, commit: string, author: string) =>
      `Git (${owner}) demande une configuration ici${commit === '' ? '' : `, commit ${commit}`}${author === '' ? '' : ` de ${author}`}, que personne n’a encore acceptée : elle n’empêche personne de la modifier ici.`,
    wishedMore: (count: number) =>
      count === 1
        ? 'Un autre propriétaire dans Git en demande une.'
        : `${count} autres propriétaires dans Git en demandent une.`,
    letGo: 'Laisser…',
    letGoNow: 'Laisser',
    letGoLead: (owner: string) =>
      `Ce que ${owner} a demandé ici est retiré, et ce qui tourne reste. La prochaine exécution de son pipeline redemande, sauf si son dossier ne tient plus ce workload.`,
    gone: 'Git n’y demande plus rien.',
    emergency: 'C’est une urgence : je déploierai sans approbation',
    mustBeEmergency: 'La configuration est tenue dans Git : modifiez-la là-bas.',
    fleetKept: (owner: string, commit: string, author: string) =>
      `Cette config de parc est tenue dans Git par ${owner}${commit === '' ? '' : `, commit ${commit}`}${author === '' ? '' : ` de ${author}`}.`,
    fleetVersion: (number: number) => `Git demande la version ${number}.`,
    fleetOther: (number: number) => `Git demande la version ${number} : d’ici, on ne porte que celle-là.`,
    keptByFleet: (fleetConfig: string, owner: string, commit: string, author: string) =>
      `Sa config de parc ${fleetConfig} est tenue dans Git par ${owner}${commit === '' ? '' : `, commit ${commit}`}${author === '' ? '' : ` de ${author}`}.`,
    fleetChangeThere:
      'Elle se modifie là-bas. D’ici, on porte cette version aux charges et on revient en arrière de campagnes.',
    fleetReadOnly: 'La config de parc est tenue dans Git : modifiez-la là-bas.',
    unknownAuthors: (names: string) =>
      `Le commit nomme ${names}, et personne ici ne s’appelle ainsi : qui que ce soit compterait comme deuxième personne. N’approuvez que si vous n’y avez pas pris part.`,
    notApproved: 'La configuration est tenue dans Git : une demande faite ici n’est pas approuvée.',
    handOver: 'Remettre…',
    handOverNow: 'Remettre',
    handOverLead:
      'Dès lors, le pipeline d’un autre compte parle pour elle, ou elle va sous un autre nom. Ce qui a été décidé le reste : ce qui attend continue d’attendre, et ce qui est retenu le reste.',
    what: 'Quoi',
    onlyThis: 'Celle-ci seulement',
    allOf: (owner: string) => `Tout ce que tient ${owner}`,
    toOwner: 'Propriétaire dès lors',
    account: 'Compte qui parle pour elle',
    accountHint: 'Une adresse, ou service: et le nom d’un compte de service, comme service:platform-ci.',
    choose: 'Choisir un compte',
    mustChoose: 'Dites quel compte parle pour elle.',
    handedOver: 'Remise.',
  },
})
