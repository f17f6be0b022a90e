import BusSupport
import DBusTypes
import Foundation
import TestSupport
import Testing

/// Stock programs: what they save is what counts.
@Suite(.serialized) struct ProgramTests {
  /// The recipe of the README: a key for `Edit.Undo`.
  @Test(
    .enabled(if: RealStage.canRun("/usr/bin/mousepad"), "needs mousepad: .ci/setup test"),
    arguments: [["Edit.Undo"], ["Menu.Activate", "win.edit.undo"]])
  func mousepadUndoes(command: [String]) async throws {
    try await RealStage.with { stage in
      let file = try stage.file("one")
      let program = try await stage.start(["/usr/bin/mousepad", file], window: "document")
      try await stage.has("Edit.Undo")
      try await stage.desktop.xdotool("key", "x")
      try await stage.saves(file, "xone")
      try await stage.desktop.runs(command)
      try await stage.saves(file, "one")
      try await eventually("it is redone") { try await stage.saved(file, after: "Edit.Redo") == "xone" }
      try await program.stop()
    }
  }

  /// By accessibility alone, without opening its menus.
  @Test(
    .enabled(if: RealStage.canRun("/usr/bin/featherpad"), "needs featherpad: .ci/setup test"),
    arguments: [["Edit.Undo"], ["Menu.Activate", "Edit › Undo"]])
  func featherpadUndoes(command: [String]) async throws {
    try await RealStage.with { stage in
      let file = try stage.file("one")
      let program = try await stage.start(["/usr/bin/featherpad", file], window: "document")
      try await stage.has("Edit.Undo")
      #expect(try await stage.desktop.focusctl("run", "Edit.Undo").status == 4)
      // The list is asked of the program, and tells what is disabled.
      try await stage.lists("Edit › Undo\tCtrl+Z\tdisabled")
      try await stage.desktop.xdotool("key", "x")
      try await stage.saves(file, "xone")
      try await stage.lists("Edit › Undo\tCtrl+Z")
      try await stage.desktop.runs(command)
      try await stage.saves(file, "one")
      try await program.stop()
    }
  }

  /// GTK 4, with no menu at all: what it copies is pasted elsewhere.
  @Test(
    .enabled(
      if: RealStage.canRun("/usr/bin/gnome-calculator", "/usr/bin/mousepad"),
      "needs gnome-calculator and mousepad: .ci/setup test"))
  func gnomeCalculatorCopies() async throws {
    try await RealStage.with { stage in
      let file = try stage.file("")
      let editor = try await stage.start(["/usr/bin/mousepad", file], window: "document")
      let program = try await stage.start(["/usr/bin/gnome-calculator"], window: "Calculator")
      try await stage.run("Edit.Copy")
      try await stage.desktop.xdotool("type", "4711")
      // The keys may reach the program after the command, and the document what is pasted after it was saved.
      try await eventually("what was typed is pasted") {
        try await stage.front("Calculator")
        try await stage.run("Edit.Copy")
        try await stage.front("document")
        return try await stage.saved(file, after: "Edit.SelectAll", "Edit.Paste") == "4711"
      }
      for process in [program, editor] { try await process.stop() }
    }
  }

  /// A launcher that took focus names the window before.
  @Test(
    .enabled(if: RealStage.canRun("/usr/bin/mousepad", "/usr/bin/xterm"), "needs mousepad and xterm: .ci/setup test"))
  func theWindowBeforeIsMeant() async throws {
    try await RealStage.with { stage in
      let file = try stage.file("one")
      let program = try await stage.start(["/usr/bin/mousepad", file], window: "document")
      try await stage.has("Edit.Undo")
      try await stage.desktop.xdotool("key", "x")
      try await stage.saves(file, "xone")
      let terminal = try await stage.start(
        ["/usr/bin/xterm", "-T", "launcher", "-e", "/bin/sleep", "1000"], window: "launcher")
      let result = try await stage.desktop.focusctl("menu", "--previous", "Edit › Undo")
      #expect(result.succeeded, "\(result)")
      try await terminal.stop()
      try await stage.front("document")
      try await stage.saves(file, "one")
      try await program.stop()
    }
  }
}

extension TestDesktop {
  /// Runs a command that must succeed the first time.
  func runs(_ command: [String]) async throws {
    let result = try await focusctl(["run"] + command)
    #expect(result.succeeded, "\(result)")
  }
}
