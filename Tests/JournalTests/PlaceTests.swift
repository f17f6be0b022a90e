import Foundation
import Glibc
import TestSupport
import Testing

@testable import FocusModel
@testable import FocusService

/// The state is kept where nobody but the user reaches it, or not at all; a place that is not safe is left as it is.
@Suite struct PlaceTests {
  /// A place, as a shell command in an empty directory of mode 700, and what is said of it.
  struct Place: Sendable, CustomTestStringConvertible {
    let command: String
    let complaint: String
    var testDescription: String { command }
  }

  static let places = [
    Place(command: "chmod 775 .", complaint: "is accessible to others with the mode 775: it must have the mode 700"),
    Place(command: "chmod 770 .", complaint: "is accessible to others with the mode 770: it must have the mode 700"),
    Place(command: "chmod 702 .", complaint: "is accessible to others with the mode 702: it must have the mode 700"),
    Place(command: "touch other; ln -s other state.db", complaint: "state.db is a symbolic link"),
    Place(command: "ln -s nowhere state.db", complaint: "state.db is a symbolic link"),
    Place(command: "touch other; ln -s other state.db-wal", complaint: "state.db-wal is a symbolic link"),
    Place(command: "ln -s nowhere state.db-shm", complaint: "state.db-shm is a symbolic link"),
    Place(command: "mkdir state.db", complaint: "state.db is not a regular file"),
    Place(command: "mkfifo state.db", complaint: "state.db is not a regular file"),
    Place(command: "mkfifo state.db-wal", complaint: "state.db-wal is not a regular file"),
  ]

  @Test(arguments: places) func whatIsNotSafeIsRefusedAndLeftAsItIs(place: Place) throws {
    try withStateFile { file in
      try Self.run(place.command, in: file.directory)
      let before = try Self.listing(file.directory)
      let opened = Journal.open(file)
      #expect(opened.journal == nil)
      #expect(opened.problems.count == 1)
      #expect(opened.problems.first?.contains(place.complaint) == true, "\(opened.problems)")
      #expect(opened.problems.first?.contains(file.path) == true)
      #expect(try Self.listing(file.directory) == before)
    }
  }

  @Test(arguments: [
    Place(command: "touch a", complaint: "/a/focusd cannot be made: Not a directory"),
    Place(
      command: "mkdir a; ln -s nowhere a/focusd", complaint: "/a/focusd cannot be reached, since a link leads nowhere"),
  ])
  func whyADirectoryCannotBeMadeIsSaid(place: Place) throws {
    try withStateFile { file in
      try Self.run(place.command, in: file.directory)
      let opened = Journal.open(StateFile(path: file.directory + "/a/focusd/state.db"))
      #expect(opened.problems.first?.contains(place.complaint) == true, "\(opened.problems)")
    }
  }

  @Test(
    .enabled(if: geteuid() == 0, "to give files to another user takes root"),
    arguments: [".", "state.db", "state.db-wal"])
  func whatBelongsToAnotherUserIsRefused(name: String) throws {
    try withStateFile { file in
      try Self.run("touch state.db state.db-wal; chown 65534 \(name)", in: file.directory)
      let opened = Journal.open(file)
      #expect(opened.journal == nil)
      #expect(opened.problems.first?.contains("belongs to another user: it must belong to the user 0") == true)
    }
  }

  @Test(arguments: ["755", "701", "740"]) func whatOthersMayOnlyReadIsClosedToThem(mode: String) throws {
    try withStateFile { file in
      try Self.run("chmod \(mode) .", in: file.directory)
      let opened = Journal.open(file)
      #expect(opened.journal != nil && opened.problems.isEmpty, "\(opened.problems)")
      var status = stat()
      #expect(stat(file.directory, &status) == 0 && status.st_mode & 0o777 == 0o700)
    }
  }

  /// The directory is what keeps others out: a backup that was put back with the mode 644 is served as it is.
  @Test func aFileOfAnotherModeIsServedAndNotChanged() throws {
    try withStateFile { file in
      var random = try RandomModel(seed: 3)
      for _ in 0..<20 { try random.step() }
      try Journal.open(file).journal?.save(random.model)
      chmod(file.path, 0o644)
      let opened = Journal.open(file)
      #expect(opened.problems == [])
      #expect(opened.model.savedFields == random.model.savedFields)
      var status = stat()
      #expect(stat(file.path, &status) == 0 && status.st_mode & 0o777 == 0o644)
    }
  }

  /// Whoever keeps `~/.local/state` elsewhere may go on to.
  @Test func aLinkToTheDirectoryIsFollowed() throws {
    try withStateFile { file in
      try Self.run("mkdir -m 700 there; ln -s there here", in: file.directory)
      let opened = Journal.open(StateFile(path: file.directory + "/here/state.db"))
      #expect(opened.journal != nil, "\(opened.problems)")
      #expect(access(file.directory + "/there/state.db", F_OK) == 0)
    }
  }

  private static func run(_ command: String, in directory: String) throws {
    // Foundation's `Process` leaks, which a leak checker tells of.
    try #require(system("set -e; cd '\(directory)'; \(command)") == 0)
  }

  /// The directory and what is in it, with modes and sizes.
  private static func listing(_ directory: String) throws -> [String] {
    try ([""] + FileManager.default.contentsOfDirectory(atPath: directory).sorted()).map { name in
      var status = stat()
      try #require(lstat(directory + "/" + name, &status) == 0)
      return "\(name) \(status.st_mode) \(name.isEmpty ? 0 : status.st_size)"
    }
  }
}
