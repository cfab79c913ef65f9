import edu.stanford.nlp.ling.CoreAnnotations;
import edu.stanford.nlp.ling.CoreLabel;
import edu.stanford.nlp.ling.IndexedWord;
import edu.stanford.nlp.pipeline.Annotation;
import edu.stanford.nlp.pipeline.StanfordCoreNLP;
import edu.stanford.nlp.semgraph.SemanticGraph;
import edu.stanford.nlp.semgraph.SemanticGraphCoreAnnotations;
import edu.stanford.nlp.semgraph.SemanticGraphEdge;
import edu.stanford.nlp.util.CoreMap;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;

/**
 * One caption per input line, one line of fields per sentence out: number of the caption, forms, tags, lemmas, basic arcs and
 * collapsed, CC-processed arcs, separated by tabs; words by spaces; an arc is governor/dependent/relation, with an
 * apostrophe behind a governor or dependent that is a copy.
 *
 * CoreNLP's own command writes no format that has both the CC-processed arcs and the marks of copies; hence this.
 */
public class Parses {
  public static void main(String[] args) throws Exception {
    Properties settings = new Properties();
    settings.setProperty("annotators", "tokenize,ssplit,parse,lemma");
    StanfordCoreNLP pipeline = new StanfordCoreNLP(settings);
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
    PrintStream out = new PrintStream(System.out, true, "UTF-8");
    String line;
    for (int number = 0; (line = lines.readLine()) != null; number++) {
      Annotation text = new Annotation(line);
      pipeline.annotate(text);
      for (CoreMap sentence : text.get(CoreAnnotations.SentencesAnnotation.class)) {
        List<String> forms = new ArrayList<>(), tags = new ArrayList<>(), lemmas = new ArrayList<>();
        for (CoreLabel word : sentence.get(CoreAnnotations.TokensAnnotation.class)) {
          forms.add(word.word().replace(' ', '\u00a0'));
          tags.add(word.tag());
          lemmas.add(word.lemma().replace(' ', '\u00a0'));
        }
        out.println(String.join("\t", "" + number, String.join(" ", forms), String.join(" ", tags), String.join(" ", lemmas),
            arcs(sentence.get(SemanticGraphCoreAnnotations.BasicDependenciesAnnotation.class)),
            arcs(sentence.get(SemanticGraphCoreAnnotations.CollapsedCCProcessedDependenciesAnnotation.class))));
      }
    }
  }

  private static String arcs(SemanticGraph graph) {
    List<String> arcs = new ArrayList<>();
    for (IndexedWord root : graph.getRoots()) {
      arcs.add("0/" + name(root) + "/root");
    }
    for (SemanticGraphEdge edge : graph.edgeIterable()) {
      arcs.add(name(edge.getGovernor()) + "/" + name(edge.getDependent()) + "/" + edge.getRelation());
    }
    return String.join(" ", arcs);
  }

  private static String name(IndexedWord word) {
    return word.index() + "'".repeat(word.copyCount());
  }
}
