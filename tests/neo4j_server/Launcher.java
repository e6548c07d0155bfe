import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.neo4j.cli.ExecutionContext;
import org.neo4j.commandline.admin.security.SetInitialPasswordCommand;
import org.neo4j.configuration.GraphDatabaseSettings;
import org.neo4j.configuration.connectors.BoltConnector;
import org.neo4j.configuration.helpers.SocketAddress;
import org.neo4j.dbms.api.DatabaseManagementServiceBuilder;
import org.neo4j.io.fs.DefaultFileSystemAbstraction;
import picocli.CommandLine;

/**
 * A Neo4j of a test run: {@code java Launcher HOME PORT [SETTING=VALUE...]}, the password as the first line of stdin.
 *
 * <p>Answers bolt on loopback only. Writes READY and closes stdout once it does; ends in order when stdin closes, so it
 * does not outlive the test run whatever becomes of that.
 */
public class Launcher {
  private static final List<String> SETTINGS =
      List.of(
          "server.memory.pagecache.size=64m",
          "db.tx_log.preallocate=false", // half a gigabyte of zeros a start
          "dbms.usage_report.enabled=false",
          "server.logs.debug.enabled=false",
          "dbms.cypher.min_replan_interval=1h", // graphs of tests change all the time: a fifth of the work was planning anew
          "server.http.enabled=false",
          "server.https.enabled=false");

  public static void main(String[] arguments) {
    try {
      serve(arguments);
      System.exit(0);
    } catch (Throwable failure) {
      failure.printStackTrace();
      System.exit(1); // the server's own threads would keep the process
    }
  }

  private static void serve(String[] arguments) throws Exception {
    Path home = Path.of(arguments[0]).toAbsolutePath();
    var address = new SocketAddress("127.0.0.1", Integer.parseInt(arguments[1]));
    var input = new BufferedReader(new InputStreamReader(System.in));
    String password = input.readLine();
    List<String> given = Arrays.asList(arguments).subList(2, arguments.length);
    var lines = new ArrayList<String>(SETTINGS);
    for (String setting : given) {
      String name = setting.substring(0, setting.indexOf('=') + 1);
      lines.removeIf(line -> line.startsWith(name));
    }
    lines.addAll(given);
    Path settings = Files.createDirectories(home.resolve("conf")).resolve("neo4j.conf");
    Files.write(settings, lines);
    if (!Files.exists(home.resolve("data"))) { // before anybody can try another password, as its administrators do
      var context =
          new ExecutionContext(
              home, settings.getParent(), System.err, System.err, new DefaultFileSystemAbstraction());
      if (new CommandLine(new SetInitialPasswordCommand(context)).execute(password) != 0) {
        throw new IllegalStateException("the password was refused");
      }
    }
    var server =
        new DatabaseManagementServiceBuilder(home)
            .loadPropertiesFromFile(settings)
            .setConfig(GraphDatabaseSettings.auth_enabled, true)
            .setConfig(BoltConnector.enabled, true)
            .setConfig(BoltConnector.listen_address, address)
            .setConfig(BoltConnector.advertised_address, address)
            .build();
    server.database("neo4j").executeTransactionally("RETURN 1"); // throws if the database is not up
    System.out.println("READY");
    System.out.close();
    while (input.readLine() != null) {}
    server.shutdown();
  }
}
