package mcp

// instructions are what a model reads about the server before anything else. Some hosts cut them at 2 KiB.
const instructions = `waybill keeps the work that is handed to coding agents: plans and their items, tasks with their attempts, ` +
	`instructions that must be acknowledged, and questions for a person.`
