import { defineTexts } from './define.ts'

/** What is said where a config is kept in Git. */
export const gitTexts = defineTexts({
  en: {
    kept: (owner: string, commit: string, author: string) =>
      `The config is kept in Git by ${owner}${commit === '' ? '' : `, commit ${commit}`}${author === '' ? '' : ` by ${author}`}.`,
    changeThere: 'Change it there. From here it is rolled back, or changed without approval in an emergency.',
    differs: 'What is active is not what Git asks for.',
    emergency: 'This is an emergency: I will push it without approval',
    mustBeEmergency: 'The config is kept in Git: change it there.',
    fleetKept: (owner: string, commit: string, author: string) =>
      `This fleet config is kept in Git by ${owner}${commit === '' ? '' : `, commit ${commit}`}${author === '' ? '' : ` by ${author}`}.`,
    fleetVersion: (number: number) => `Git asks for version ${number}.`,
    fleetChangeThere:
      'It is changed there. From here, versions are carried to workloads and campaigns taken back.',
    fleetReadOnly: 'The fleet config is kept in Git: change it there.',
    notApproved: 'The config is kept in Git: a request from here is not approved.',
  },
  fr: {
    kept: (owner: string, commit: string, author: string) =>
      `La configuration est tenue dans Git par ${owner}${commit === '' ? '' : `, commit ${commit}`}${author === '' ? '' : ` de ${author}`}.`,
    changeThere:
      'Modifiez-la là-bas. D’ici, on revient en arrière, ou on la modifie sans approbation en urgence.',
    differs: 'Ce qui est actif n’est pas ce que Git demande.',
    emergency: 'C’est une urgence : je déploierai sans approbation',
    mustBeEmergency: 'La configuration est tenue dans Git : modifiez-la là-bas.',
    fleetKept: (owner: string, commit: string, author: string) =>
      `Cette config de parc est tenue dans Git par ${owner}${commit === '' ? '' : `, commit ${commit}`}${author === '' ? '' : ` de ${author}`}.`,
    fleetVersion: (number: number) => `Git demande la version ${number}.`,
    fleetChangeThere:
      'Elle se modifie là-bas. D’ici, on porte des versions aux charges et on annule des campagnes.',
    fleetReadOnly: 'La config de parc est tenue dans Git : modifiez-la là-bas.',
    notApproved: 'La configuration est tenue dans Git : une demande faite ici n’est pas approuvée.',
  },
})
