// Does what a person does: looks at the models until the one of the test is there, gives the agent the prompt in
// WAYBILL_TEST_PROMPT, and lists the servers when it has answered.
const vscode = require("vscode");

const vendor = "customendpoint";

exports.activate = async () => {
  await vscode.commands.executeCommand("workbench.action.chat.manage");
  await new Promise((done) => {
    const look = async () => {
      if ((await vscode.lm.selectChatModels({ vendor })).length > 0) done();
    };
    vscode.lm.onDidChangeChatModels(look);
    look();
  });
  await vscode.commands.executeCommand("workbench.action.closeAllEditors");
  const query = process.env.WAYBILL_TEST_PROMPT;
  await vscode.commands.executeCommand("workbench.action.chat.open", { query, mode: "agent", modelSelector: { vendor, id: "scripted" }, blockOnResponse: true });
  await vscode.commands.executeCommand("workbench.mcp.listServer");
};
